//! Every source and adaptor against the serial iterator of the same name, by way of its chunks alone.

mod indices;
mod iterators;
mod nests;
mod owned;
mod ranges;
mod slices;

use std::fmt::Debug;

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
