//! What an iteration can do with the elements, chunks and fields that it owns, and a participant with its locals.

use locsteal::par_for;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Field {
    x: Vec<f64>,
    y: Vec<f64>,
    scale: f64,
}

#[par_for]
impl Field {
    fn step(&mut self) {
        #[par_for]
        for i in 0..self.x.len() {
            self.y[i] += self.scale * self.x[i];
        }
    }

    fn said(&mut self) {
        #[par_for(own(self.y))]
        for i in 0..self.x.len() {
            let k = i;
            self.y[k] = self.y.len() as f64;
        }
    }

    fn untouched(&self) -> usize {
        self.x.len()
    }
}

#[test]
fn fields_of_self() {
    let mut field = Field { x: vec![2.0; 100], y: vec![1.0; 100], scale: 3.0 };
    field.step();
    assert_eq!(field.y, vec![7.0; 100]);
    field.said();
    assert_eq!(field.y, vec![100.0; 100]);
    assert_eq!(field.untouched(), 100);
}

#[par_for(own(c.chunks(m)))]
fn rows(c: &mut [usize], n: usize, m: usize) {
    for i in 0..n {
        for j in 0..m {
            if i * m + j < c.len() {
                c[i * m + j] = 10 * i + j;
            }
        }
    }
}

#[test]
fn chunks_with_ordinary_indices_and_a_partial_last_one() {
    let mut c = vec![0; 23];
    rows(&mut c, 5, 5);
    assert!(c.iter().enumerate().all(|(k, c)| *c == 10 * (k / 5) + k % 5), "{c:?}");
}

#[par_for]
fn slices(c: &mut Vec<u8>, m: usize) {
    #[par_for(own(c.chunks(m)))]
    for i in 0..c.len() / m {
        c[i * m..(i + 1) * m].fill(i as u8);
        c[i * m..=i * m][0] += 100;
        c.swap(i * m, i * m + 1);
        for v in &mut c[i * m..(i + 1) * m] {
            *v += 1;
        }
        let last = c.len() - 1;
        if i * m + m - 1 == last {
            c[last] = 77;
        }
    }
}

#[test]
fn chunks_as_slices() {
    let mut c = vec![0; 12];
    slices(&mut c, 4);
    assert_eq!(c, [1, 101, 1, 1, 2, 102, 2, 2, 3, 103, 3, 77]);
}

#[derive(Clone, Default, Debug, PartialEq)]
struct Body {
    pos: [f64; 3],
    tags: Vec<u32>,
}

#[par_for]
fn elements(y: &mut [Body], names: &mut [String], grid: &mut [[i32; 4]]) {
    for i in 0..y.len() {
        y[i].pos[1] += i as f64;
        y[i].tags.push(i as u32);
        let (pos, tags) = (&mut y[i].pos, &mut y[i].tags);
        pos[0] = tags.len() as f64;
        tags.push(7);
        names[i].push('x');
        y[i].pos.swap(0, 2);
        for j in 0..4 {
            grid[i][j] = (i * j) as i32;
        }
    }
}

#[test]
fn struct_elements() {
    let mut y = vec![Body::default(); 9];
    let mut names = vec![String::new(); 9];
    let mut grid = [[0; 4]; 9];
    elements(&mut y, &mut names, &mut grid);
    for (i, y) in y.iter().enumerate() {
        assert_eq!(*y, Body { pos: [0.0, i as f64, 1.0], tags: vec![i as u32, 7] });
    }
    assert_eq!(names, vec!["x"; 9]);
    assert_eq!(grid[3], [0, 3, 6, 9]);
}

#[par_for]
fn locals(y: &mut [usize]) -> usize {
    let made = AtomicUsize::new(0);
    #[par_for(local(buf: Vec<usize> = { made.fetch_add(1, Relaxed); Vec::new() }, n = 0usize))]
    for i in 0..y.len() {
        buf.clear();
        buf.extend(0..i);
        n += 1;
        y[i] = buf.len() + usize::from(n == 0);
    }
    made.into_inner()
}

#[test]
fn locals_are_made_once_per_participant() {
    let mut y = vec![0; 1000];
    let made = locals(&mut y);
    assert!((1..=8).contains(&made), "{made}");
    assert!(y.iter().enumerate().all(|(i, y)| *y == i));
}
