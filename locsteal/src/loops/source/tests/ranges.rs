//! Ranges of every type, up to the ends of the type.

use super::*;

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
