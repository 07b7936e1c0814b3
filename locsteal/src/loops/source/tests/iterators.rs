//! Iterators of the standard library, as they are.

use std::collections::VecDeque;

use super::*;

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
