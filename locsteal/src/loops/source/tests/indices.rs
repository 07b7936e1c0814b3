//! The loop's index, and the elements that it leads to.

use super::*;

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
