//! Loops over arrays of the `ndarray` crate do what the serial loops over them do, whatever shape and layout they have.

use std::panic::{AssertUnwindSafe, catch_unwind};

use locsteal::{IntoParallelSource, Pool, Schedule, par_for};
use ndarray::{Array1, Array2, Array3, ArrayD, ArrayViewMut2, Axis, IxDyn, ShapeBuilder, Slice, s};

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

const SCHEDULES: [Schedule; 6] = [
    Schedule::Auto,
    Schedule::Static,
    Schedule::Steal,
    Schedule::Dynamic,
    Schedule::DynamicChunk(1),
    Schedule::Serial,
];

fn pool() -> Pool {
    Pool::builder().threads(4).build().unwrap()
}

/// Ways to look at a part of an array: its rows or columns in steps, backward, exchanged, or none of them.
const LOOKS: usize = 8;

fn look<'a>(array: &'a mut Array2<u64>, look: usize) -> ArrayViewMut2<'a, u64> {
    let mut view = array.view_mut();
    match look {
        0 => {}
        1 => view = view.reversed_axes(),
        2 => view.invert_axis(Axis(0)),
        3 => view.invert_axis(Axis(1)),
        4 => view.slice_axis_inplace(Axis(0), Slice::from(..).step_by(-2)),
        5 => view.slice_axis_inplace(Axis(1), Slice::from(..).step_by(3)),
        6 => {
            view.slice_axis_inplace(Axis(1), Slice::from(..).step_by(-2));
            view = view.reversed_axes();
        }
        _ => view.slice_axis_inplace(Axis(0), Slice::from(0..0)),
    }
    view
}

/// Calls `check` with an array of some shape, its order in memory, and a way to look at it.
fn each_shape(mut check: impl FnMut(Array2<u64>, usize, Schedule)) {
    let mut numbers = Numbers(7);
    for round in 0..12 {
        for way in 0..LOOKS {
            let shape = match round {
                0 => (0, 5),
                1 => (5, 0),
                2 => (1, 1),
                3 => (1, 17),
                4 => (17, 1),
                _ => (1 + numbers.below(40), 1 + numbers.below(9)),
            };
            let mut count = 0;
            let fill = |_| {
                count += 1;
                count
            };
            let array = if round % 2 == 0 {
                Array2::from_shape_fn(shape, fill)
            } else {
                Array2::from_shape_fn(shape.f(), fill)
            };
            check(array, way, SCHEDULES[numbers.below(SCHEDULES.len())]);
        }
    }
}

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

/// The same loop twice, in parallel and serial.
macro_rules! twice {
    ($parallel:ident, $serial:ident, $array:ident; for $i:ident in $range:expr; $body:block) => {
        #[par_for]
        fn $parallel(mut $array: ArrayViewMut2<u64>, schedule: Schedule, pool: &Pool) {
            #[par_for(schedule = (schedule), pool = pool, grain = 1)]
            for $i in $range {
                $body
            }
        }

        fn $serial(mut $array: ArrayViewMut2<u64>) {
            for $i in $range {
                $body
            }
        }
    };
}

twice!(accumulate, accumulate_serially, a; for i in 0..a.nrows(); {
    for j in 0..a.ncols() {
        a[[i, j]] += (i * 100 + j) as u64;
        if j > 0 {
            a[[i, j]] = (a[[i, j]] + a[[i, j - 1]] * 3) % 1000;
        }
    }
    if a.dim() != (0, 0) && !a.is_empty() && i % 2 == 0 {
        a[(i, 0)] = (a.len() + a.shape()[0] + a.ndim()) as u64;
        let mut other = i as u64;
        std::mem::swap(&mut a[[i, 0]], &mut other);
    }
});

twice!(backward, backward_serially, a; for i in (0..a.nrows()).rev(); {
    for j in 0..a.ncols() {
        a[[i, j]] ^= i as u64;
    }
});

twice!(in_steps, in_steps_serially, a; for i in (0..a.nrows()).step_by(3); {
    for j in (0..a.ncols()).rev() {
        a[[i, j]] = a[[i, 0]].wrapping_add(j as u64);
    }
});

#[test]
fn rows_are_owned() {
    let pool = pool();
    each_shape(|array, way, schedule| {
        let (mut expected, mut found) = (array.clone(), array);
        accumulate_serially(look(&mut expected, way));
        accumulate(look(&mut found, way), schedule, &pool);
        assert_eq!(found, expected, "{way} {schedule:?}");
        backward_serially(look(&mut expected, way));
        backward(look(&mut found, way), schedule, &pool);
        assert_eq!(found, expected, "{way} {schedule:?}");
        in_steps_serially(look(&mut expected, way));
        in_steps(look(&mut found, way), schedule, &pool);
        assert_eq!(found, expected, "{way} {schedule:?}");
    });
}

#[test]
fn several_arrays_and_several_axes() {
    struct Model {
        grid: Array3<f64>,
        old: Array2<f64>,
        sums: Array1<f64>,
    }

    impl Model {
        #[par_for]
        fn step(&mut self, pool: &Pool) -> f64 {
            let (_, m, depth) = self.grid.dim();
            let mut total = 0.0;
            #[par_for(pool = pool, schedule = dynamic(1), reduce(+: total))]
            for i in 0..self.old.nrows() {
                let mut sum = 0.0;
                for j in 0..m {
                    for k in 0..depth {
                        self.grid[[i, j, k]] += self.old[[i, j]] * k as f64;
                        sum += self.grid[[i, j, k]];
                    }
                }
                self.sums[i] = sum;
                total += sum;
            }
            total
        }
    }

    let old = Array2::from_shape_fn((9, 4), |(i, j)| (i * 10 + j) as f64);
    let (grid, sums) = (Array3::ones((9, 4, 3).f()), Array1::zeros(9));
    let mut model = Model { grid, old, sums };
    let total = model.step(&pool());
    let expected = Array3::from_shape_fn((9, 4, 3), |(i, j, k)| 1.0 + ((i * 10 + j) * k) as f64);
    assert_eq!(model.grid, expected);
    assert_eq!(model.sums, expected.sum_axis(Axis(2)).sum_axis(Axis(1)));
    assert_eq!(total, expected.sum());
}

#[test]
fn rows_that_a_clause_names() {
    #[par_for]
    fn normalize(array: &mut Array2<f64>, pool: &Pool) -> Result<Vec<f64>, usize> {
        #[par_for(own(array.rows()), pool = pool, schedule = dynamic(1))]
        let sums: Vec<f64> = for i in 0..array.nrows() {
            let sum = array.row(i).sum();
            if sum == 0.0 {
                Err(i)?;
            }
            array.row_mut(i).mapv_inplace(|x| x / sum);
            sum
        };
        Ok(sums)
    }

    let pool = pool();
    let mut array = Array2::from_elem((20, 4).f(), 2.0);
    assert_eq!(normalize(&mut array, &pool), Ok(vec![8.0; 20]));
    assert!(array.iter().all(|x| *x == 0.25));
    array.row_mut(13).fill(0.0);
    array.row_mut(17).fill(0.0);
    assert_eq!(normalize(&mut array, &pool), Err(13));
}

/// What the loop panics with.
fn panic_of<R>(run: impl FnOnce() -> R) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(run)) else { panic!("it came back") };
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap()
}

#[test]
fn rows_of_others_cannot_be_reached() {
    #[par_for]
    fn write(a: &mut Array2<u64>, rows: usize, column: usize, to: fn(usize) -> usize, pool: &Pool) {
        #[par_for(own(a.rows()), pool = pool, schedule = static)]
        for i in 0..rows {
            a[[to(i), column]] += 1;
        }
    }

    #[par_for]
    fn take(a: &mut Array2<u64>, to: fn(usize) -> usize, pool: &Pool) {
        #[par_for(own(a.rows()), pool = pool, schedule = static)]
        for i in 0..a.nrows() {
            a.row_mut(to(i)).fill(1);
        }
    }

    #[par_for]
    fn write_own(a: &mut Array2<u64>, rows: usize, pool: &Pool) {
        #[par_for(pool = pool, schedule = static)]
        for i in 0..rows {
            a[[i, 0]] += 1;
        }
    }

    let pool = pool();
    let mut a = Array2::<u64>::zeros((6, 2));
    write(&mut a, 6, 1, |i| i, &pool);
    assert_eq!(a.sum(), 6);
    let belongs = |row, own| {
        format!(
            "row {row} of `a` belongs to another iteration: this one owns row {own} alone, of the 6 rows of `a`"
        )
    };
    let next = |i: usize| if i == 3 { 2 } else { i };
    assert_eq!(panic_of(|| write(&mut a, 6, 1, next, &pool)), belongs(2, 3));
    assert_eq!(panic_of(|| take(&mut a, next, &pool)), belongs(2, 3));
    assert_eq!(
        panic_of(|| write(&mut a, 6, 1, |i| if i == 3 { 60 } else { i }, &pool)),
        "index out of bounds: `a` has 6 rows but the index of the row is 60"
    );
    assert_eq!(
        panic_of(|| write_own(&mut a, 7, &pool)),
        "index out of bounds: `a` has 6 rows but the index of the row is 6"
    );
    assert_eq!(
        panic_of(|| write(&mut a, 7, 1, |i| i % 6, &pool)),
        "row 0 of `a` belongs to another iteration: this one owns no row of `a`, of the 6 rows of `a`"
    );
    // `ndarray` says it of its columns.
    assert!(panic_of(|| write(&mut a, 6, 2, |i| i, &pool)).contains("out of bounds"));
}

#[test]
fn elements_of_one_axis_are_owned() {
    #[par_for]
    fn axpy(a: f64, x: &Array1<f64>, y: &mut Array1<f64>, pool: &Pool) {
        #[par_for(pool = pool, grain = 1)]
        for i in 0..x.len() {
            y[i] += a * x[i];
        }
    }

    #[par_for]
    fn clear(mut y: ndarray::ArrayViewMut1<f64>, pool: &Pool) {
        #[par_for(pool = pool)]
        for i in 0..y.len() {
            y[i] = 0.0;
        }
    }

    let pool = pool();
    let mut y = Array1::ones(100);
    axpy(2.0, &Array1::range(0.0, 100.0, 1.0), &mut y, &pool);
    assert_eq!(y, Array1::range(1.0, 200.0, 2.0));
    clear(y.slice_mut(s![10..]), &pool);
    assert_eq!(y.sum(), 100.0);
    assert!(panic_of(|| clear(y.slice_mut(s![..;2]), &pool)).contains("in steps"));
}

#[test]
fn an_inner_marked_loop_reads_the_row() {
    #[par_for]
    fn sums(a: &mut Array2<u64>, pool: &Pool) {
        #[par_for(pool = pool, grain = 1)]
        for i in 0..a.nrows() {
            let mut sum = 0;
            #[par_for(pool = pool, grain = 1, reduce(+: sum))]
            for j in 0..a.ncols() {
                sum += a[[i, j]];
            }
            a[[i, 0]] = sum;
        }
    }

    let mut a = Array2::from_shape_fn((7, 13).f(), |(i, j)| (i * j) as u64);
    let expected: Vec<u64> = a.rows().into_iter().map(|row| row.sum()).collect();
    sums(&mut a, &pool());
    assert_eq!(a.column(0).to_vec(), expected);
}

#[test]
fn elements_that_are_dropped_are_dropped_once() {
    #[par_for]
    fn rename(a: &mut Array2<String>, pool: &Pool) {
        #[par_for(pool = pool, schedule = dynamic(1))]
        for i in 0..a.nrows() {
            for j in 0..a.ncols() {
                let old = std::mem::take(&mut a[[i, j]]);
                a[[i, j]] = format!("{old}{old}");
                a[[i, j]].push('!');
            }
            assert!(i != 40, "forty");
        }
    }

    #[par_for]
    fn clear(a: ArrayViewMut2<String>, pool: &Pool) {
        #[par_for(pool = pool, schedule = dynamic(3))]
        for x in a {
            x.clear();
        }
    }

    let pool = pool();
    let mut a = Array2::from_shape_fn((20, 3).f(), |(i, j)| format!("{i}{j}"));
    rename(&mut a, &pool);
    assert_eq!((a[[12, 2]].as_str(), a[[0, 0]].as_str()), ("122122!", "0000!"));
    clear(a.slice_mut(s![..;-3, 1..]), &pool);
    assert_eq!(
        (a[[19, 1]].as_str(), a[[16, 2]].as_str(), a[[16, 0]].as_str()),
        ("", "", "160160!")
    );
    let mut a = Array2::from_elem((50, 2), "x".to_owned());
    assert_eq!(panic_of(|| rename(&mut a, &pool)), "forty");
    assert!(a.iter().all(|x| x == "x" || x == "xx!"));
}
