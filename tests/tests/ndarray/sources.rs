//! Loops over rows, columns, axes, chunks, lanes and elements.

use std::panic::{AssertUnwindSafe, catch_unwind};

use locsteal::{IntoParallelSource, Pool, Schedule, par_for};
use ndarray::{Array2, Array3, ArrayD, ArrayViewMut2, Axis, IxDyn, ShapeBuilder, s};

use crate::pool;
use crate::shapes::{each_shape, look};

/// A loop that reads, and one that writes, each parallel and serial, over what `$expr` makes of the view.
macro_rules! compare {
    ($test:ident, $view:ident => $expr:expr, $item:ident => $sum:expr, $view_mut:ident => $expr_mut:expr, $item_mut:ident => $write:expr) => {
        #[test]
        fn $test() {
            #[par_for]
            fn read(
                mut array: Array2<u64>,
                way: usize,
                schedule: Schedule,
                pool: &Pool,
            ) -> Vec<u64> {
                let view = look(&mut array, way);
                let $view = view.view();
                #[par_for(schedule = (schedule), pool = pool, grain = 1)]
                let values: Vec<u64> = for $item in $expr {
                    $sum
                };
                values
            }

            fn read_serially(mut array: Array2<u64>, way: usize) -> Vec<u64> {
                let view = look(&mut array, way);
                let $view = view.view();
                let mut values = Vec::new();
                for $item in $expr {
                    values.push($sum);
                }
                values
            }

            #[par_for]
            fn write(
                mut array: Array2<u64>,
                way: usize,
                schedule: Schedule,
                pool: &Pool,
            ) -> Array2<u64> {
                #[allow(unused_mut)]
                let mut $view_mut = look(&mut array, way);
                #[par_for(schedule = (schedule), pool = pool, grain = 1)]
                for $item_mut in $expr_mut {
                    #[allow(unused_mut)]
                    let mut $item_mut = $item_mut;
                    $write;
                }
                array
            }

            fn write_serially(mut array: Array2<u64>, way: usize) -> Array2<u64> {
                #[allow(unused_mut)]
                let mut $view_mut = look(&mut array, way);
                for $item_mut in $expr_mut {
                    #[allow(unused_mut)]
                    let mut $item_mut = $item_mut;
                    $write;
                }
                array
            }

            let pool = pool();
            each_shape(|array, way, schedule| {
                let expected = read_serially(array.clone(), way);
                assert_eq!(
                    read(array.clone(), way, schedule, &pool),
                    expected,
                    "{way} {schedule:?}"
                );
                let expected = write_serially(array.clone(), way);
                assert_eq!(write(array, way, schedule, &pool), expected, "{way} {schedule:?}");
            });
        }
    };
}

fn digest<'a>(values: impl IntoIterator<Item = &'a u64>) -> u64 {
    values.into_iter().fold(17, |sum, value| sum.wrapping_mul(31).wrapping_add(*value))
}

fn change<'a>(values: impl IntoIterator<Item = &'a mut u64>) {
    for (k, value) in values.into_iter().enumerate() {
        *value = value.wrapping_mul(31).wrapping_add(k as u64);
    }
}

compare!(rows, a => a.rows(), row => digest(row), b => b.rows_mut(), row => change(row));
compare!(columns, a => a.columns(), row => digest(row), b => b.columns_mut(), row => change(&mut row));
compare!(outer, a => a.outer_iter(), row => digest(row), b => b.outer_iter_mut(), row => change(&mut row));
compare!(axis, a => a.axis_iter(Axis(1)), row => digest(row), b => b.axis_iter_mut(Axis(1)), row => change(&mut row));
compare!(axis_chunks, a => a.axis_chunks_iter(Axis(0), 3), part => digest(part), b => b.axis_chunks_iter_mut(Axis(1), 4), part => change(&mut part));
compare!(lanes, a => a.lanes(Axis(0)), lane => digest(lane), b => b.lanes_mut(Axis(1)), lane => change(lane));
compare!(views, a => a.rows().into_iter(), row => digest(row), b => b.rows_mut().into_iter(), row => change(row));
compare!(references, a => &a, x => x.wrapping_mul(3), b => &mut b, x => *x += 1);

#[test]
fn elements_have_positions() {
    #[par_for]
    fn number(view: ArrayViewMut2<u64>, schedule: Schedule, pool: &Pool) {
        #[par_for(schedule = (schedule), pool = pool, grain = 1)]
        for (k, x) in view.into_parallel_source().enumerate() {
            *x += 1000 * k as u64;
        }
    }

    let pool = pool();
    each_shape(|array, way, schedule| {
        let (mut expected, mut found) = (array.clone(), array);
        for (k, x) in look(&mut expected, way).iter_mut().enumerate() {
            *x += 1000 * k as u64;
        }
        number(look(&mut found, way), schedule, &pool);
        assert_eq!(found, expected, "{way} {schedule:?}");
    });
}

#[test]
fn more_axes() {
    #[par_for]
    fn sums(array: &Array3<u64>, axis: usize, pool: &Pool) -> Vec<u64> {
        #[par_for(pool = pool, schedule = dynamic(1))]
        let sums: Vec<u64> = for part in array.axis_iter(Axis(axis)) {
            digest(part)
        };
        sums
    }

    #[par_for]
    fn elements(array: &ArrayD<u64>, pool: &Pool) -> Vec<u64> {
        #[par_for(pool = pool, schedule = dynamic(1))]
        let elements: Vec<u64> = for x in array {
            *x
        };
        elements
    }

    #[par_for]
    fn double(mut array: ArrayD<u64>, axis: usize, pool: &Pool) -> ArrayD<u64> {
        #[par_for(pool = pool, schedule = dynamic(1))]
        for mut part in array.axis_iter_mut(Axis(axis)) {
            part *= 2;
        }
        array
    }

    let pool = pool();
    let mut count = 0;
    let array = Array3::from_shape_simple_fn((4, 3, 5).f(), || {
        count += 1;
        count
    });
    for axis in 0..3 {
        let expected: Vec<u64> = array.axis_iter(Axis(axis)).map(digest).collect();
        assert_eq!(sums(&array, axis, &pool), expected);
    }
    let many =
        array.slice(s![..;-1, .., 1..]).to_owned().into_dyn().permuted_axes(IxDyn(&[2, 0, 1]));
    assert_eq!(elements(&many, &pool), many.iter().copied().collect::<Vec<_>>());
    for axis in 0..3 {
        assert_eq!(double(many.clone(), axis, &pool), many.clone() * 2);
    }
    let point = ArrayD::from_elem(IxDyn(&[]), 3);
    assert_eq!(elements(&point, &pool), [3]);
}

#[test]
fn elements_without_a_size() {
    #[par_for]
    fn count(array: &mut Array2<()>, pool: &Pool) -> (usize, usize, usize) {
        let (mut read, mut written, mut in_order) = (0, 0, 0);
        #[par_for(pool = pool, grain = 1, reduce(+: read))]
        for row in array.rows() {
            read += row.len();
        }
        #[par_for(pool = pool, grain = 1, reduce(+: written))]
        for column in array.columns_mut() {
            written += column.len();
        }
        let turned = array.view().reversed_axes();
        #[par_for(pool = pool, grain = 1, reduce(+: in_order))]
        for () in &turned {
            in_order += 1;
        }
        (read, written, in_order)
    }

    assert_eq!(count(&mut Array2::from_elem((7, 11), ()), &pool()), (77, 77, 77));
}

#[test]
fn exits_and_panics() {
    #[par_for]
    fn first_zero(array: &mut Array2<i64>, pool: &Pool) -> Option<usize> {
        #[par_for(pool = pool, schedule = dynamic(1))]
        for (k, mut row) in array.rows_mut().into_iter().enumerate() {
            if row.iter().any(|x| *x == 0) {
                return Some(k);
            }
            row += 1;
        }
        None
    }

    #[par_for]
    fn check(array: &mut Array2<i64>, pool: &Pool) -> Result<(), String> {
        #[par_for(pool = pool, schedule = steal, grain = 1)]
        for mut column in array.axis_iter_mut(Axis(1)) {
            let first = column.first().ok_or("empty")?;
            assert!(*first != 7, "seven");
            if *first < 0 {
                Err(format!("{first} is below 0"))?;
            }
            column.fill(1);
        }
        Ok(())
    }

    let pool = pool();
    let mut array = Array2::ones((50, 3));
    array[[31, 2]] = 0;
    array[[44, 0]] = 0;
    assert_eq!(first_zero(&mut array, &pool), Some(31));
    assert!(array.slice(s![..31, ..]).iter().all(|x| *x == 2));
    let mut array = Array2::ones((2, 40));
    assert_eq!(check(&mut array, &pool), Ok(()));
    array[[0, 20]] = -3;
    assert_eq!(check(&mut array, &pool), Err("-3 is below 0".to_owned()));
    array[[0, 20]] = 7;
    let panic = catch_unwind(AssertUnwindSafe(|| check(&mut array, &pool))).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"seven"));
    assert_eq!(check(&mut Array2::zeros((0, 9)), &pool), Err("empty".to_owned()));
    assert_eq!(check(&mut Array2::zeros((9, 0)), &pool), Ok(()));
}
