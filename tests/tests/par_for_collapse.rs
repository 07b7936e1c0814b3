//! Nests of loops that are run as one.
#![forbid(unsafe_code)]
#![deny(warnings)]

use locsteal::par_for;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[par_for]
fn visits(n: usize, m: usize, l: usize, schedule: locsteal::Schedule) -> Vec<usize> {
    let seen: Vec<AtomicUsize> = (0..n * m * l).map(|_| AtomicUsize::new(0)).collect();
    #[par_for(collapse = 3, schedule = (schedule), grain = 1)]
    for i in 0..n {
        for j in 0..m {
            for k in 0..l {
                if (i + j + k) % 7 == 3 {
                    continue;
                }
                seen[(i * m + j) * l + k].fetch_add(1, Relaxed);
            }
        }
    }
    seen.into_iter().map(AtomicUsize::into_inner).collect()
}

#[test]
fn each_iteration_once() {
    use locsteal::Schedule::{Dynamic, Static, StaticChunk, Steal};
    for (n, m, l) in [(0, 3, 3), (3, 0, 3), (3, 3, 0), (1, 1, 1), (2, 3, 5), (7, 1, 4), (11, 5, 6)]
    {
        for schedule in [Dynamic, Static, StaticChunk(3), Steal] {
            let mut expected = Vec::new();
            for i in 0..n {
                for j in 0..m {
                    for k in 0..l {
                        expected.push(usize::from((i + j + k) % 7 != 3));
                    }
                }
            }
            assert_eq!(visits(n, m, l, schedule), expected, "{n} {m} {l} {schedule:?}");
        }
    }
}

#[par_for]
fn interior(c: &mut [usize], n: usize, m: usize) {
    #[par_for(collapse = 2, grain = 1, schedule = static(5))]
    for i in 1..n - 1 {
        for j in 1..m as u32 - 1 {
            c[i * m + j as usize] += 100 * i + j as usize;
        }
    }
}

#[test]
fn elements_of_a_flat_array_are_owned() {
    let (n, m) = (9, 7);
    let mut c = vec![1; n * m];
    interior(&mut c, n, m);
    for i in 0..n {
        for j in 0..m {
            let inside = (1..n - 1).contains(&i) && (1..m - 1).contains(&j);
            assert_eq!(c[i * m + j], if inside { 1 + 100 * i + j } else { 1 }, "{i} {j}");
        }
    }
}

struct Grid {
    nx: usize,
    ny: usize,
    nz: usize,
    u: Vec<f64>,
    v: Vec<f64>,
}

#[par_for]
impl Grid {
    fn step(&mut self) {
        let (ny, nz) = (self.ny, self.nz);
        #[par_for(collapse = 3)]
        for x in 1..self.nx - 1 {
            for y in 1..ny - 1 {
                for z in 1..nz - 1 {
                    let at = |x: usize, y: usize, z: usize| self.u[(x * ny + y) * nz + z];
                    self.v[(x * ny + y) * nz + z] = at(x - 1, y, z)
                        + at(x + 1, y, z)
                        + at(x, y - 1, z)
                        + at(x, y + 1, z)
                        + at(x, y, z - 1)
                        + at(x, y, z + 1)
                        - 6.0 * at(x, y, z);
                }
            }
        }
    }
}

#[test]
fn a_stencil_in_three_dimensions() {
    let (nx, ny, nz) = (5, 6, 7);
    let u: Vec<f64> = (0..nx * ny * nz).map(|k| ((k * k) % 17) as f64).collect();
    let mut grid = Grid { nx, ny, nz, u, v: vec![0.0; nx * ny * nz] };
    grid.step();
    let at = |x: usize, y: usize, z: usize| grid.u[(x * ny + y) * nz + z];
    for x in 1..nx - 1 {
        for y in 1..ny - 1 {
            for z in 1..nz - 1 {
                let expected = at(x - 1, y, z)
                    + at(x + 1, y, z)
                    + at(x, y - 1, z)
                    + at(x, y + 1, z)
                    + at(x, y, z - 1)
                    + at(x, y, z + 1)
                    - 6.0 * at(x, y, z);
                assert_eq!(grid.v[(x * ny + y) * nz + z], expected);
            }
        }
    }
}

#[par_for]
fn chunks(c: &mut [usize], n: usize, m: usize, k: usize) -> Option<usize> {
    let mut sum = 0;
    #[par_for(collapse = 2, own(c.chunks(k)), reduce(+: sum))]
    for i in 0..n {
        'inner: for j in 0..m {
            for l in 0..k {
                c[(i * m + j) * k + l] = i + 10 * j + 100 * l;
                sum += 1;
                if l == 3 {
                    continue 'inner;
                }
            }
            if i * j == 6 {
                return Some(i);
            }
        }
    }
    Some(sum + 1000)
}

#[test]
fn chunks_of_a_flat_array_are_owned() {
    let mut c = vec![0; 4 * 3 * 2];
    assert_eq!(chunks(&mut c, 4, 3, 2), Some(3));
    assert_eq!(chunks(&mut c, 3, 3, 2), Some(1018));
    for i in 0..3 {
        for j in 0..3 {
            for l in 0..2 {
                assert_eq!(c[(i * 3 + j) * 2 + l], i + 10 * j + 100 * l);
            }
        }
    }
}

#[par_for]
fn too_wide(c: &mut [usize], m: usize) {
    #[par_for(collapse = 2)]
    for i in 0..4 {
        for j in 0..m + 1 {
            c[i * m + j] = 1;
        }
    }
}

#[test]
#[should_panic(expected = "would own the same element of `c`")]
fn rows_that_overlap_are_refused() {
    too_wide(&mut [0; 100], 5);
}

#[par_for]
fn too_short(c: &mut [usize], m: usize) {
    #[par_for(collapse = 2)]
    for i in 0..4 {
        for j in 0..m {
            c[i * m + j] = 1;
        }
    }
}

#[test]
#[should_panic(expected = "index out of bounds: the len of `c` is 10 but the index is 1")]
fn an_array_that_is_too_short_panics() {
    too_short(&mut [0; 10], 5);
}

#[par_for]
fn table(n: usize, m: usize) -> Vec<(usize, usize)> {
    #[par_for(collapse = 2)]
    let pairs: Vec<_> = for i in 0..n {
        for j in 0..m {
            (i, j)
        }
    };
    pairs
}

#[test]
fn a_nest_yields() {
    let expected: Vec<_> = (0..5).flat_map(|i| (0..7).map(move |j| (i, j))).collect();
    assert_eq!(table(5, 7), expected);
}
