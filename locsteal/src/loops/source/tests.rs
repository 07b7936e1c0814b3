//! Every source and adaptor against the serial iterator of the same name, by way of its chunks alone.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::*;

/// The items of a source that is cut into chunks after each of the positions for which `cut` is true.
fn items<S: ParallelSource>(source: &S, cut: impl Fn(u128) -> bool) -> Vec<S::Item> {
    let mut items = Vec::new();
    let Some(last) = source.length().last() else { return items };
    let mut first = 0;
    for position in 0..=last {
        if position == last || cut(position) {
            // SAFETY: the chunks are consecutive, and each is used up here.
            items.extend(unsafe { source.chunk(first, position) });
            first = position + 1;
        }
    }
    items
}

/// Holds what `make` makes against `expected`, cut in several ways.
fn check<S: ParallelSource, K: PartialEq + Debug>(
    make: &impl Fn() -> S,
    key: &impl Fn(S::Item) -> K,
    expected: &[K],
) {
    let length = make().length();
    assert_eq!(length, Length::from(expected.len()), "{}", std::any::type_name::<S>());
    let cuts: [&dyn Fn(u128) -> bool; 4] =
        [&|_| false, &|_| true, &|position| position % 3 == 1, &|position| position == 0];
    for cut in cuts {
        let source = make();
        let got: Vec<K> = items(&source, cut).into_iter().map(key).collect();
        assert_eq!(got, expected, "{}", std::any::type_name::<S>());
    }
}

/// The counts to try on a source of `len` items.
fn counts(len: usize) -> Vec<usize> {
    let mut counts = vec![0, 1, 2, len.saturating_sub(1), len, len + 1, usize::MAX];
    counts.sort_unstable();
    counts.dedup();
    counts
}

macro_rules! levels {
    ($($level:ident -> $next:ident),*) => {$(
        /// Checks the source, and again with each adaptor on top.
        fn $level<S: ExactSource, K: PartialEq + Debug + Clone>(
            make: &impl Fn() -> S,
            key: &impl Fn(S::Item) -> K,
            expected: &[K],
        ) {
            let step_by = |step| expected.iter().step_by(step).cloned().collect::<Vec<K>>();
            check(make, key, expected);
            $next(&|| make().rev(), key, &expected.iter().rev().cloned().collect::<Vec<K>>());
            for count in counts(expected.len()) {
                $next(&|| make().skip(count), key, expected.get(count..).unwrap_or(&[]));
                $next(&|| make().take(count), key, &expected[..count.min(expected.len())]);
                if count > 0 {
                    $next(&|| make().step_by(count), key, &step_by(count));
                }
            }
            let pairs: Vec<(usize, K)> = expected.iter().cloned().enumerate().collect();
            check(&|| make().enumerate(), &|(position, item)| (position, key(item)), &pairs);
            let back: Vec<(usize, K)> = pairs.iter().rev().cloned().collect();
            check(&|| make().enumerate().rev(), &|(position, item)| (position, key(item)), &back);
            for partners in counts(expected.len()).into_iter().filter(|count| *count < 100) {
                let partner: Vec<usize> = (7..7 + partners).collect();
                let pairs: Vec<(K, usize)> = expected.iter().cloned().zip(partner.iter().copied()).collect();
                check(&|| make().zip(&partner), &|(item, partner)| (key(item), *partner), &pairs);
                let pairs: Vec<(usize, K)> = pairs.into_iter().map(|(item, partner)| (partner, item)).collect();
                check(
                    &|| partner.as_slice().into_parallel_source().zip(make()).rev().rev(),
                    &|(partner, item)| (*partner, key(item)),
                    &pairs,
                );
            }
        }
    )*};
}

levels!(once -> check, twice -> once);

/// Checks with adaptors on top, two deep where time allows.
fn check_adapted<S: ExactSource, K: PartialEq + Debug + Clone>(
    make: &impl Fn() -> S,
    key: &impl Fn(S::Item) -> K,
    expected: &[K],
) {
    if cfg!(miri) {
        once(make, key, expected);
    } else {
        twice(make, key, expected);
    }
}

fn lengths() -> &'static [usize] {
    if cfg!(miri) { &[0, 1, 3] } else { &[0, 1, 2, 3, 7] }
}

#[test]
fn ranges() {
    for &len in lengths() {
        let expected: Vec<usize> = (5..5 + len).collect();
        check_adapted(&|| (5..5 + len).into_parallel_source(), &|item| item, &expected);
        let expected: Vec<i8> = (-3..-3 + len as i8).collect();
        check_adapted(&|| (-3..-3 + len as i8).into_parallel_source(), &|item| item, &expected);
    }
}

#[test]
fn inclusive_ranges() {
    for &len in lengths() {
        let expected: Vec<u8> = (5..5 + len as u8).collect();
        check_adapted(&|| (5..=4 + len as u8).into_parallel_source(), &|item| item, &expected);
        let expected: Vec<i32> = (-3..-3 + len as i32).collect();
        check_adapted(&|| (-3..=-4 + len as i32).into_parallel_source(), &|item| item, &expected);
    }
}

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "that is what is tested")]
fn empty_ranges() {
    check(&|| (7..3).into_parallel_source(), &|item: i32| item, &[]);
    check(&|| (7..=3).into_parallel_source(), &|item: u64| item, &[]);
    check(&|| ('z'..'a').into_parallel_source(), &|item| item, &[]);
    check(&|| (i128::MAX..i128::MIN).into_parallel_source(), &|item| item, &[]);
    let mut exhausted = 3..=3;
    exhausted.next();
    check(&|| exhausted.clone().into_parallel_source(), &|item| item, &[]);
}

macro_rules! whole_and_ends {
    ($($t:ident)*) => {
        #[test]
        fn all_values_of_small_types() {
            let all: Vec<u8> = (u8::MIN..=u8::MAX).collect();
            check(&|| (u8::MIN..=u8::MAX).into_parallel_source(), &|item| item, &all);
            let all: Vec<i8> = (i8::MIN..=i8::MAX).collect();
            check(&|| (i8::MIN..=i8::MAX).into_parallel_source(), &|item| item, &all);
            check(&|| (i8::MIN..i8::MAX).into_parallel_source(), &|item| item, &all[..255]);
        }

        $(mod $t {
            use super::*;

            #[test]
            fn ends_of_the_type() {
                let (min, max) = ($t::MIN, $t::MAX);
                let (low, high): (Vec<$t>, Vec<$t>) = ((min..min + 5).collect(), (max - 4..=max).collect());
                check(&|| (min..min + 5).into_parallel_source(), &|item| item, &low);
                check(&|| (min..=min + 4).into_parallel_source(), &|item| item, &low);
                check(&|| (max - 4..max).into_parallel_source(), &|item| item, &high[..4]);
                check(&|| (max - 4..=max).into_parallel_source(), &|item| item, &high);
                check(&|| (max..=max).into_parallel_source(), &|item| item, &[max]);
            }

            #[test]
            fn the_full_range() {
                let bits = $t::BITS;
                let last = u128::MAX >> (128 - bits);
                let all = || ($t::MIN..=$t::MAX).into_parallel_source();
                assert_eq!(all().length(), Length::from_last(last));
                assert_eq!(($t::MIN..$t::MAX).into_parallel_source().length(), Length::from_last(last - 1));
                // SAFETY: a range is a `RepeatableSource`.
                let at = |first, last| unsafe { all().chunk(first, last) };
                assert!(at(0, 1).eq([$t::MIN, $t::MIN + 1]));
                assert!(at(last - 1, last).eq([$t::MAX - 1, $t::MAX]));
                // SAFETY: as above.
                assert!(unsafe { all().rev().chunk(0, 1) }.eq([$t::MAX, $t::MAX - 1]));
                // SAFETY: as above.
                assert!(unsafe { all().rev().chunk(last, last) }.eq([$t::MIN]));
                let mut whole = at(0, last);
                assert_eq!(whole.size_hint().0, usize::try_from(last).map_or(usize::MAX, |last| last.saturating_add(1)));
                assert_eq!((whole.next(), whole.next_back()), (Some($t::MIN), Some($t::MAX)));
                assert_eq!((whole.nth(2), whole.nth_back(2)), (Some($t::MIN + 3), Some($t::MAX - 3)));
                // All but one of the remaining values of a small type; of a large one, as far as one step can go.
                let left = last - 7;
                let far = usize::try_from(left).unwrap_or(usize::MAX);
                if left <= usize::MAX as u128 {
                    assert_eq!(whole.clone().nth(far), None);
                    assert_eq!(whole.nth(far - 1), Some($t::MAX - 4));
                    assert_eq!(whole.next(), None);
                } else {
                    assert_eq!(whole.nth(far), Some(($t::MIN + 4).wrapping_add(far as $t)));
                }
            }

            #[test]
            fn steps_through_the_full_range() {
                for step in [1, 2, 3, 1 << 20, usize::MAX / 2 + 1, usize::MAX - 1, usize::MAX] {
                    let last = u128::MAX >> (128 - $t::BITS);
                    let source = ($t::MIN..=$t::MAX).into_parallel_source().step_by(step);
                    let end = last / step as u128;
                    assert_eq!(source.length(), Length::from_last(end));
                    for position in [0, end / 2, end.saturating_sub(1), end] {
                        let expected = $t::MIN.wrapping_add((position * step as u128) as $t);
                        // SAFETY: a range is a `RepeatableSource`.
                        let mut chunk = unsafe { source.chunk(position, end) };
                        assert_eq!(chunk.next(), Some(expected), "position {position} by {step}");
                    }
                    if end < 1000 {
                        // SAFETY: as above.
                        let chunk = unsafe { source.chunk(0, end) };
                        assert_eq!(chunk.count() as u128, end + 1);
                    }
                }
            }
        })*
    };
}

whole_and_ends!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize u128 i128);

#[test]
fn characters() {
    let over_the_gap: Vec<char> = ('\u{D7FD}'..='\u{E002}').collect();
    assert_eq!(over_the_gap.len(), 6);
    let (first, last) = (over_the_gap[0], over_the_gap[5]);
    check(&|| (first..=last).into_parallel_source(), &|item| item, &over_the_gap);
    check(&|| (first..last).into_parallel_source(), &|item| item, &over_the_gap[..5]);
    let all = ('\0'..=char::MAX).into_parallel_source();
    assert_eq!(all.length(), Length::from(('\0'..=char::MAX).count()));
    if !cfg!(miri) {
        assert!(items(&all, |position| position % 1000 == 0).into_iter().eq('\0'..=char::MAX));
    }
}

#[test]
fn slices_by_reference() {
    for &len in lengths() {
        let vec: Vec<u16> = (100..100 + len as u16).collect();
        let boxed = vec.clone().into_boxed_slice();
        check_adapted(&|| vec.as_slice().into_parallel_source(), &|item| *item, &vec);
        check(&|| (&vec).into_parallel_source(), &|item| *item, &vec);
        check(&|| (&boxed).into_parallel_source(), &|item| *item, &vec);
        check(&|| vec.iter().into_parallel_source(), &|item| *item, &vec);
        check(&|| vec.as_slice().into_parallel_source().copied(), &|item| item, &vec);
        check(&|| vec.as_slice().into_parallel_source().cloned().rev().rev(), &|item| item, &vec);
    }
    check(&|| (&[1, 2, 3]).into_parallel_source(), &|item| *item, &[1, 2, 3]);
}

#[test]
fn pieces_of_slices() {
    for &len in lengths() {
        let vec: Vec<u16> = (0..len as u16).collect();
        for size in counts(len).into_iter().filter(|size| *size > 0) {
            let chunks: Vec<&[u16]> = vec.chunks(size).collect();
            once(&|| vec.par_chunks(size), &|item| item, &chunks);
            let chunks: Vec<&[u16]> = vec.chunks_exact(size).collect();
            once(&|| vec.par_chunks_exact(size), &|item| item, &chunks);
            let windows: Vec<&[u16]> = vec.windows(size).collect();
            once(&|| vec.par_windows(size), &|item| item, &windows);
        }
    }
}

/// Counts its values that are alive.
#[derive(Debug)]
struct Counted<'a> {
    value: usize,
    alive: &'a AtomicUsize,
}

impl<'a> Counted<'a> {
    fn new(value: usize, alive: &'a AtomicUsize) -> Self {
        alive.fetch_add(1, Relaxed);
        Self { value, alive }
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Relaxed);
    }
}

#[test]
fn elements_by_value() {
    let alive = AtomicUsize::new(0);
    for &len in lengths() {
        let expected: Vec<usize> = (0..len).collect();
        let vec = || (0..len).map(|value| Counted::new(value, &alive)).collect::<Vec<_>>();
        once(&|| vec().into_parallel_source(), &|item| item.value, &expected);
        check(&|| vec().into_boxed_slice().into_parallel_source(), &|item| item.value, &expected);
        check(&|| VecDeque::from(vec()).into_parallel_source(), &|item| item.value, &expected);
        check(&|| vec().into_iter().into_parallel_source(), &|item| item.value, &expected);
        assert_eq!(alive.load(Relaxed), 0, "{len} elements");
    }
    let array = || [0, 1, 2, 3].map(|value| Counted::new(value, &alive));
    once(&|| array().into_parallel_source(), &|item| item.value, &[0, 1, 2, 3]);
    check(&|| array().into_iter().into_parallel_source(), &|item| item.value, &[0, 1, 2, 3]);
    assert_eq!(alive.load(Relaxed), 0);
    check(&|| vec![(); 5].into_parallel_source(), &|()| (), &[(); 5]);
    check(&|| [[0_u8; 0]; 3].into_parallel_source(), &|item| item, &[[]; 3]);
}

#[test]
fn what_a_chunk_or_a_source_has_left_is_dropped_once() {
    let alive = AtomicUsize::new(0);
    for (len, first, last, taken, back) in [
        (1, 0, 0, 0, 0),
        (5, 1, 3, 1, 1),
        (300, 10, 290, 100, 3),
        (300, 0, 299, 300, 0),
        (64, 63, 63, 0, 1),
    ] {
        let elements: Vec<_> = (0..len).map(|value| Counted::new(value, &alive)).collect();
        let source = elements.into_parallel_source();
        // SAFETY: the only chunk, dropped before the source.
        let mut chunk = unsafe { source.chunk(first, last) };
        for value in first as usize..first as usize + taken {
            assert_eq!(chunk.next().unwrap().value, value);
        }
        for value in (last as usize + 1 - back..=last as usize).rev() {
            assert_eq!(chunk.next_back().unwrap().value, value);
        }
        drop(chunk);
        assert_eq!(alive.load(Relaxed), len - (last - first + 1) as usize);
        drop(source);
        assert_eq!(alive.load(Relaxed), 0);
    }
}

#[test]
fn a_drop_that_panics_does_not_keep_others_from_being_dropped() {
    struct Fragile<'a>(Counted<'a>);
    impl Drop for Fragile<'_> {
        fn drop(&mut self) {
            assert!(self.0.value != 3, "element 3");
        }
    }
    let alive = AtomicUsize::new(0);
    let source = || {
        (0..6).map(|v| Fragile(Counted::new(v, &alive))).collect::<Vec<_>>().into_parallel_source()
    };
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(source())));
    assert_eq!((caught.is_err(), alive.load(Relaxed)), (true, 0));
    let source = source();
    // SAFETY: the only chunk, dropped before the source.
    let chunk = unsafe { source.chunk(2, 4) };
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(chunk)));
    assert_eq!((caught.is_err(), alive.load(Relaxed)), (true, 3));
}

#[test]
fn slices_to_be_changed() {
    for &len in lengths() {
        let expected: Vec<u16> = (100..100 + len as u16).collect();
        // Each source gets memory of its own, since several are alive at once.
        let fresh = || expected.clone().leak();
        if !cfg!(miri) {
            once(&|| fresh().into_parallel_source(), &|item: &mut u16| *item, &expected);
        }
        for size in counts(len).into_iter().filter(|size| *size > 0) {
            let mut vec = expected.clone();
            let mut serial = expected.clone();
            for source_part in items(&vec.par_chunks_mut(size), |position| position % 2 == 0) {
                source_part.reverse();
            }
            serial.chunks_mut(size).for_each(<[u16]>::reverse);
            assert_eq!(vec, serial);
            for source_part in
                items(&vec.par_chunks_exact_mut(size).rev(), |position| position % 3 == 0)
            {
                source_part.rotate_left(1);
            }
            serial.chunks_exact_mut(size).for_each(|part| part.rotate_left(1));
            assert_eq!(vec, serial);
        }
        let mut vec = expected.clone();
        for item in
            items(&vec.iter_mut().into_parallel_source().step_by(2), |position| position == 1)
        {
            *item += 1000;
        }
        let steps: Vec<u16> =
            (0..).zip(&expected).map(|(k, v)| if k % 2 == 0 { v + 1000 } else { *v }).collect();
        assert_eq!(vec, steps);
    }
}

#[test]
fn deques() {
    let mut deque: VecDeque<u8> = (0..6).collect();
    deque.rotate_left(4);
    deque.push_front(9);
    let expected: Vec<u8> = deque.iter().copied().collect();
    once(&|| (&deque).into_parallel_source(), &|item| *item, &expected);
    check(&|| deque.iter().into_parallel_source(), &|item| *item, &expected);
    check(&|| deque.clone().into_parallel_source(), &|item| item, &expected);
    for item in items(&(&mut deque).into_parallel_source(), |position| position == 2) {
        *item += 1;
    }
    assert!(deque.iter().copied().eq(expected.iter().map(|v| v + 1)));
}

#[test]
fn iterators_as_they_are() {
    macro_rules! same {
        ($($serial:expr),* $(,)?) => {$(
            let expected: Vec<_> = $serial.collect();
            check(&|| $serial.into_parallel_source(), &|item| item, &expected);
        )*};
    }
    for &len in lengths() {
        let vec: Vec<u16> = (100..100 + len as u16).collect();
        let deque: VecDeque<u16> = vec.iter().copied().collect();
        same![
            vec.chunks(2),
            vec.chunks_exact(2),
            vec.rchunks(2),
            vec.rchunks_exact(3),
            vec.windows(2),
            deque.iter().rev(),
            "near, then far"[..len.min(14)].bytes(),
            vec.iter().enumerate(),
            vec.iter().rev().enumerate().skip(1).take(3),
            vec.chunks(2).rev().step_by(2),
            vec.iter().copied().rev(),
            (0..len).rev(),
            (3..=3 + len as u64).rev().step_by(3),
            (0..len as i32).step_by(2).rev().enumerate(),
        ];
        for count in counts(len) {
            same![vec.iter().skip(count), vec.iter().take(count).rev(), (0..=len).skip(count)];
            if count > 0 {
                same![
                    vec.iter().step_by(count),
                    (0..len).step_by(count),
                    (-1..=len as i64).step_by(count)
                ];
            }
        }
        let mut begun = vec.iter().enumerate();
        begun.next();
        same![begun.clone()];
    }
}

#[test]
#[cfg(target_pointer_width = "64")]
fn iterators_over_more_than_they_can_count() {
    let all = || (u64::MIN..=u64::MAX).rev();
    let source = all().into_parallel_source();
    assert_eq!(source.length(), Length::from_last(u128::from(u64::MAX)));
    // SAFETY: such a source is a `RepeatableSource`.
    let at = |first, last| unsafe { source.chunk(first, last) };
    assert!(at(0, 1).eq([u64::MAX, u64::MAX - 1]));
    assert!(at(u128::from(u64::MAX), u128::from(u64::MAX)).eq([0]));
    assert_eq!(all().skip(1).into_parallel_source().length(), Length::from(u64::MAX));
    assert_eq!(all().step_by(3).into_parallel_source().length(), Length::from(u64::MAX / 3 + 1));
    assert_eq!((0..=i64::MAX).rev().into_parallel_source().length(), Length::from(1_u64 << 63));
}

#[test]
fn nests() {
    for rows in 0..4_usize {
        for columns in 0..4_u8 {
            let expected: Vec<_> =
                (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).collect();
            let nest = || (0..rows).into_parallel_source().nest(0..columns);
            check(&nest, &|item| item, &expected);
            check(
                &|| nest().skip(2).step_by(3),
                &|item| item,
                &expected[2.min(expected.len())..].iter().copied().step_by(3).collect::<Vec<_>>(),
            );
            let expected: Vec<_> =
                expected.iter().flat_map(|at| ['a', 'b'].map(|c| (*at, c))).collect();
            check(&|| nest().nest('a'..='b'), &|item| item, &expected);
            let Some(last) = nest().length().last() else { continue };
            let mut position = 0;
            for row in nest().rows(1.min(last), last) {
                position = if position == 0 { 1.min(last) } else { position };
                assert_eq!(row.first, position);
                for j in row.inner {
                    assert_eq!(position, (row.outer as u128) * u128::from(columns) + u128::from(j));
                    position += 1;
                }
                assert_eq!(row.last + 1, position);
            }
            assert_eq!(position, last + 1);
        }
    }
}

#[test]
fn nests_as_large_as_they_get() {
    let all = (u64::MIN..=u64::MAX).into_parallel_source();
    let nest = all.nest(u64::MIN..=u64::MAX);
    assert_eq!(nest.length(), Length::from_last(u128::MAX));
    // SAFETY: ranges are `RepeatableSource`s.
    let at = |first, last| unsafe { nest.chunk(first, last) };
    assert!(at(u128::MAX, u128::MAX).eq([(u64::MAX, u64::MAX)]));
    let border = u128::from(u64::MAX);
    assert!(at(border, border + 1).eq([(0, u64::MAX), (1, 0)]));
    let one_row = (0..1).into_parallel_source().nest(u128::MIN..=u128::MAX);
    assert_eq!(one_row.rows(u128::MAX, u128::MAX).next().unwrap().inner.next(), Some(u128::MAX));
    let caught = std::panic::catch_unwind(|| nest.nest(0..2));
    assert!(caught.is_err());
}

#[test]
fn indices_lead_to_what_an_iteration_owns() {
    fn check_aligned<P, S: IndexedSource<P>>(source: &S, index: impl Fn(&S::Item) -> i128) {
        let whole: Vec<i128> = (0..12).collect();
        let aligned = source.checked_align(whole.as_slice().into_parallel_source()).unwrap();
        assert_eq!(aligned.length(), source.length());
        let owned = items(&aligned, |position| position % 2 == 0);
        let positions = 0..owned.len() as u128;
        let expected: Vec<i128> = items(source, |_| false).iter().map(index).collect();
        assert!(owned.into_iter().copied().eq(expected.iter().copied()));
        assert!(positions.map(|position| source.index(position)).eq(expected));
    }
    let at = |item: &usize| *item as i128;
    let range = || (3..11).into_parallel_source();
    let inclusive = || (3_u8..=11).into_parallel_source();
    let xs = ["a", "b", "c", "d"];
    check_aligned::<Whole, _>(&range(), at);
    check_aligned::<Whole, _>(&inclusive(), |item| i128::from(*item));
    check_aligned::<Whole, _>(&range().rev(), at);
    check_aligned::<Whole, _>(&range().step_by(3).rev(), at);
    check_aligned::<Whole, _>(&range().rev().step_by(3), at);
    check_aligned::<Whole, _>(&range().rev().skip(2).take(4), at);
    check_aligned::<Whole, _>(&(-5..7).into_parallel_source().skip(5), |item: &i32| {
        i128::from(*item)
    });
    check_aligned::<Whole, _>(&(0..100).into_parallel_source().take(12), at);
    check_aligned::<First, _>(&(&xs).into_parallel_source().enumerate().rev(), |item| at(&item.0));
    check_aligned::<Second<First>, _>(&range().zip(&xs).enumerate(), |item| at(&item.1.0));
    check_aligned::<First, _>(&(0..1000).into_parallel_source().zip(&xs).rev(), |item| at(&item.0));
    check_aligned::<Second, _>(&(&xs).into_parallel_source().zip(2..1000).step_by(2), |item| {
        at(&item.1)
    });
    check_aligned::<First<Second>, _>(
        &(&xs).into_parallel_source().zip(range()).zip(&xs),
        |item| at(&item.0.1),
    );
}

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "such a loop has no index that could be wrong")]
fn indices_out_of_bounds_are_found() {
    let whole = [0; 8];
    let error = |range: std::ops::Range<i64>| {
        range
            .into_parallel_source()
            .checked_align((&whole).into_parallel_source())
            .err()
            .map(|error| error.to_string())
    };
    assert_eq!(error(0..8), None);
    assert_eq!(error(9..3), None);
    assert_eq!(error(-1..3).unwrap(), "the loop's index reaches -1, but the length is 8");
    assert_eq!(error(0..9).unwrap(), "the loop's index reaches 8, but the length is 8");
    let far = (u128::MAX..=u128::MAX)
        .into_parallel_source()
        .checked_align((&whole).into_parallel_source())
        .err();
    assert_eq!(far, Some(OutOfBounds { index: i128::MAX, length: Length::from(8_usize) }));
    for range in [-1..3_i64, 6..9, 8..9] {
        let aligned = range.clone().into_parallel_source().align((&whole).into_parallel_source());
        // SAFETY: shared slices are `RepeatableSource`s.
        let caught = std::panic::catch_unwind(|| unsafe {
            aligned.chunk(0, range.clone().count() as u128 - 1)
        });
        let message = *caught.unwrap_err().downcast::<String>().unwrap();
        assert!(message.starts_with("the loop's index reaches"), "{range:?}: {message}");
    }
}
