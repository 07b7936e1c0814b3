//! Loops whose iterations own a row each, by `a[[i, j]]` or by a clause.

use locsteal::{Pool, Schedule, par_for};
use ndarray::{Array1, Array2, Array3, ArrayViewMut2, Axis, ShapeBuilder};

use crate::shapes::{each_shape, look};
use crate::{panic_of, pool};

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
