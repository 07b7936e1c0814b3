//! Loops whose iterations own an element each, and elements that are dropped.

use locsteal::{Pool, par_for};
use ndarray::{Array1, Array2, ArrayViewMut2, ShapeBuilder, s};

use crate::{panic_of, pool};

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
