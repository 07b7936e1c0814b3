//! Nests of ranges that are joined.

use super::*;

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
