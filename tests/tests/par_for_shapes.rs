//! Where a marked loop can stand, and what it can write.
#![forbid(unsafe_code)]
#![deny(warnings)]

use locsteal::par_for;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[par_for]
fn statement_and_tail(y: &mut [usize], z: &mut Vec<usize>) {
    #[par_for]
    for i in 0..y.len() {
        y[i] = i;
    }
    #[par_for(schedule = dynamic(3))]
    for i in 0..z.len() {
        z[i] = 2 * i;
    }
}

#[test]
fn statement_and_tail_positions() {
    let (mut y, mut z) = ([0; 50], vec![0; 77]);
    statement_and_tail(&mut y, &mut z);
    assert!(y.iter().enumerate().all(|(i, y)| *y == i));
    assert!(z.iter().enumerate().all(|(i, z)| *z == 2 * i));
}

#[par_for]
fn everywhere(kind: u32, y: &mut [usize]) -> usize {
    let count = AtomicUsize::new(0);
    if kind == 0 {
        #[par_for]
        for i in 0..y.len() {
            y[i] += 1;
        }
    } else {
        match kind {
            1 =>
            {
                #[par_for]
                for i in 0..y.len() {
                    y[i] += 2;
                }
            }
            2 => {
                let mut f = || {
                    #[par_for]
                    for i in 0..y.len() {
                        y[i] += 3;
                    }
                };
                f();
                f();
            }
            _ =>
            {
                #[par_for]
                for i in 0..10 {
                    #[par_for]
                    for j in 0..20 {
                        count.fetch_add(i * j, Relaxed);
                    }
                }
            }
        }
    }
    count.into_inner()
}

#[test]
fn every_position() {
    let mut y = vec![0; 10];
    everywhere(0, &mut y);
    everywhere(1, &mut y);
    everywhere(2, &mut y);
    assert_eq!(y, [9; 10]);
    assert_eq!(everywhere(3, &mut y), 45 * 190);
}

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
fn ranges(y: &mut [i64]) {
    let n = y.len() as i32;
    #[par_for]
    for i in (0..n).rev() {
        y[i as usize] += 1;
    }
    #[par_for]
    for i in (0..y.len()).step_by(3) {
        y[i] += 10;
    }
    #[par_for]
    for i in (1..=y.len() as u8 - 1).rev().step_by(2) {
        y[i as usize] += 100;
    }
    let add: Vec<i64> = vec![1000; y.len()];
    #[par_for]
    for (i, a) in add.iter().enumerate() {
        y[i] += *a;
    }
    #[par_for]
    for (i, a) in (0..y.len()).rev().zip(&add).skip(1).take(3) {
        y[i] += 10 * a;
    }
}

#[test]
fn ranges_and_adaptors() {
    let mut y = vec![0; 10];
    ranges(&mut y);
    let expected: Vec<i64> = (0..10)
        .map(|i| {
            let mut v = 1001;
            if i % 3 == 0 {
                v += 10;
            }
            if i % 2 == 1 {
                v += 100;
            }
            if (6..=8).contains(&i) {
                v += 10_000;
            }
            v
        })
        .collect();
    assert_eq!(y, expected);
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

#[par_for]
fn continues(y: &mut [usize]) {
    'outer: for i in 0..y.len() {
        if i % 2 == 0 {
            continue;
        }
        for j in 0..10 {
            if i + j == 13 {
                continue 'outer;
            }
        }
        y[i] = 1;
    }
}

#[test]
fn continue_goes_to_the_next_iteration() {
    let mut y = vec![0; 20];
    continues(&mut y);
    for (i, y) in y.iter().enumerate() {
        assert_eq!(*y, usize::from(i % 2 == 1 && !(4..=13).contains(&i)), "{i}");
    }
}

#[par_for]
fn exits(x: &[i32], mode: u32) -> Result<i32, String> {
    #[par_for]
    for i in 0..x.len() {
        if x[i] < 0 && mode == 0 {
            return Err(format!("{i}"));
        }
        if mode == 1 && x[i] > 50 {
            break;
        }
        if mode == 2 {
            let v: i32 = x[i].to_string().parse().map_err(|e| format!("{e}"))?;
            let _: i32 = v.checked_sub(100).ok_or("small".to_string())?;
        }
    }
    let found = 'found: {
        #[par_for]
        for i in 0..x.len() {
            if x[i] == 60 {
                break 'found i as i32;
            }
        }
        -1
    };
    Ok(found)
}

#[test]
fn every_exit() {
    let mut x: Vec<i32> = (0..100).collect();
    assert_eq!(exits(&x, 1), Ok(60));
    assert_eq!(exits(&x, 3), Ok(60));
    assert_eq!(exits(&x[..10], 3), Ok(-1));
    x[90] = -1;
    x[40] = -2;
    assert_eq!(exits(&x, 0), Err("40".to_owned()));
    x[0] = 100;
    assert_eq!(exits(&x, 2), Ok(60));
    x[0] = i32::MIN;
    assert_eq!(exits(&x, 2), Err("small".to_owned()));
}

#[par_for]
fn outer_labels(n: usize) -> Vec<usize> {
    let mut seen = Vec::new();
    'rows: for r in 0..n {
        #[par_for]
        for i in 0..100 {
            if i == 10 * r {
                if r == 2 {
                    continue 'rows;
                }
                if r == 5 {
                    break 'rows;
                }
            }
        }
        seen.push(r);
    }
    seen
}

#[test]
fn outer_loops_are_continued_and_left() {
    assert_eq!(outer_labels(9), [0, 1, 3, 4]);
}

#[par_for]
fn nested_exit(n: usize) -> Option<(usize, usize)> {
    #[par_for]
    for i in 0..n {
        #[par_for]
        for j in 0..n {
            if i * j == 42 {
                return Some((i, j));
            }
        }
    }
    None
}

#[test]
fn exits_cross_nested_loops() {
    assert_eq!(nested_exit(30), Some((2, 21)));
    assert_eq!(nested_exit(3), None);
}

#[par_for]
async fn in_async(y: &mut [usize]) -> Option<()> {
    std::future::ready(()).await;
    for i in 0..y.len() {
        y[i] = i.checked_add(1)?;
    }
    std::future::ready(()).await;
    Some(())
}

#[allow(clippy::multiple_bound_locations, reason = "a bound in both places is what is tested")]
#[par_for]
fn generic<T: Copy + Send + Sync + std::ops::AddAssign, const N: usize, I: Into<usize>>(
    y: &mut [T; N],
    x: &[T],
    skip: I,
) where
    T: PartialOrd,
{
    let skip = skip.into();
    for i in skip..N {
        y[i] += x[i];
    }
}

#[test]
fn generics() {
    let mut y = [1u8; 20];
    generic(&mut y, &[2; 20], 5usize);
    assert_eq!(y[4..6], [1, 3]);
    let mut y = [1; 7];
    let mut future = Box::pin(in_async(&mut y));
    let waker = std::task::Waker::noop();
    let done = future.as_mut().poll(&mut std::task::Context::from_waker(waker));
    assert_eq!(done, std::task::Poll::Ready(Some(())));
    drop(future);
    assert_eq!(y, [1, 2, 3, 4, 5, 6, 7]);
}

trait Kernel {
    fn weight(&self, i: usize) -> usize;

    #[par_for]
    fn run(&self, y: &mut [usize])
    where
        Self: Sync,
    {
        for i in 0..y.len() {
            y[i] = self.weight(i);
        }
    }
}

impl Kernel for usize {
    fn weight(&self, i: usize) -> usize {
        self * i
    }
}

#[test]
fn trait_defaults() {
    let mut y = [0; 5];
    3usize.run(&mut y);
    assert_eq!(y, [0, 3, 6, 9, 12]);
}

#[par_for]
mod inner {
    pub(super) fn fill(y: &mut [usize]) {
        #[par_for]
        for i in 0..y.len() {
            y[i] = i + 1;
        }
    }

    pub(super) mod deeper {
        pub(in super::super) fn fill(y: &mut [usize]) {
            #[par_for(threads = 2, grain = 4)]
            for i in 0..y.len() {
                y[i] = i + 2;
            }
        }
    }
}

#[test]
fn modules() {
    let mut y = [0; 5];
    inner::fill(&mut y);
    assert_eq!(y, [1, 2, 3, 4, 5]);
    inner::deeper::fill(&mut y);
    assert_eq!(y, [2, 3, 4, 5, 6]);
}

#[par_for]
fn many(items: Vec<String>, words: &mut [String]) -> usize {
    let total = AtomicUsize::new(0);
    #[par_for]
    for word in words.iter_mut() {
        word.push('!');
    }
    #[par_for]
    for item in items {
        total.fetch_add(item.len(), Relaxed);
    }
    #[par_for]
    for pair in words.chunks_mut(2) {
        pair[0].push('?');
    }
    #[par_for]
    for (k, w) in words.windows(2).enumerate() {
        total.fetch_add(k * w[0].len(), Relaxed);
    }
    total.into_inner()
}

#[test]
fn slices_and_vectors() {
    let mut words = vec!["a".to_owned(), "bb".to_owned(), "c".to_owned()];
    assert_eq!(many(vec!["12".into(), "345".into()], &mut words), 5 + 3);
    assert_eq!(words, ["a!?", "bb!", "c!?"]);
}

#[par_for]
fn first_long(words: &[String], length: usize) -> Option<&str> {
    for i in 0..words.len() {
        if words[i].len() >= length {
            return Some(&words[i]);
        }
    }
    None
}

#[par_for]
fn each(words: &[String]) -> Vec<&String> {
    #[par_for]
    let each: Vec<&String> = for i in 0..words.len() {
        &words[i]
    };
    each
}

#[par_for]
#[allow(clippy::needless_range_loop, reason = "the form is what is tested")]
fn ends<'a>(words: &'a Vec<String>, rows: &'a [[u8; 2]; 3]) -> (&'a String, &'a u8, Vec<&'a u8>) {
    let (mut last, mut of_row) = (&words[0], &rows[0][0]);
    #[par_for(reduce(max: last, min: of_row))]
    for i in 0..rows.len() {
        if &words[i] > last {
            last = &words[i];
        }
        for j in 0..2 {
            if &rows[i][j] < of_row {
                of_row = &rows[i][j];
            }
        }
    }
    let found = Mutex::new(Vec::new());
    #[par_for]
    for i in 0..rows.len() {
        if rows[i][0] > 1 {
            found.lock().unwrap().push(&rows[i][0]);
        }
        let row = &rows[i];
        for j in 0..2 {
            if row[j] == 9 {
                found.lock().unwrap().push(&row[j]);
            }
        }
    }
    (last, of_row, found.into_inner().unwrap())
}

#[par_for]
fn of_no_slice<'a>(queue: &VecDeque<u8>, grid: &'a [u8], n: usize) -> Vec<(u8, &'a u8)> {
    #[par_for]
    let pairs: Vec<(u8, &'a u8)> = for i in 0..queue.len() {
        let (here, mut last) = (&queue[i], &grid[i * n]);
        for j in 0..n {
            last = &grid[i * n + j];
        }
        (*here, last)
    };
    pairs
}

struct Named {
    name: String,
    parts: [Vec<u8>; 2],
}

#[par_for]
#[allow(clippy::needless_range_loop, reason = "the form is what is tested")]
fn trimmed<'a>(words: &'a [String], long: &[f64], queue: &'a VecDeque<String>) -> Option<&'a str> {
    #[par_for]
    for i in 0..words.len() {
        if long[i].abs() > 2.0 {
            return Some(words[i].trim());
        }
    }
    #[par_for]
    for i in 0..queue.len() {
        if queue[i].starts_with(' ') {
            return Some(queue[i].trim_start());
        }
    }
    None
}

#[par_for]
#[allow(clippy::needless_range_loop, reason = "the form is what is tested")]
fn parts<'a>(all: &'a [Named], wanted: &str) -> Result<(), &'a [u8]> {
    for i in 0..all.len() {
        if all[i].name.as_str() == wanted {
            return Err(all[i].parts[1].as_slice());
        }
        for j in 0..2 {
            let Some(first) = all[i].parts[j].first() else { return Err(all[i].name.as_bytes()) };
            let _: &'a u8 = first;
        }
    }
    Ok(())
}

#[test]
fn what_methods_borrow_of_elements_outlives_the_loop() {
    let words = [" one", "two ", " three"].map(str::to_owned);
    let queue = VecDeque::from(["four", " five"].map(str::to_owned));
    assert_eq!(trimmed(&words, &[1.0, -3.0, 4.0], &queue), Some("two"));
    assert_eq!(trimmed(&words, &[0.0; 3], &queue), Some("five"));
    let named = |name: &str, parts| Named { name: name.to_owned(), parts };
    let all = [named("a", [vec![1], vec![2, 3]]), named("b", [vec![4], vec![]])];
    assert_eq!(parts(&all, "a"), Err(&[2, 3][..]));
    assert_eq!(parts(&all, "c"), Err(&b"b"[..]));
    assert_eq!(parts(&all[..1], "c"), Ok(()));
}

#[test]
fn references_to_elements_outlive_the_loop() {
    let words = ["one", "three", "two"].map(str::to_owned).to_vec();
    assert_eq!(first_long(&words, 4), Some("three"));
    assert_eq!(first_long(&words, 9), None);
    assert!(each(&words).iter().zip(&words).all(|(a, b)| std::ptr::eq(*a, b)));
    let rows = [[3, 1], [1, 2], [1, 9]];
    let (last, least, mut found) = ends(&words, &rows);
    found.sort();
    assert_eq!((last.as_str(), *least, found), ("two", 1, vec![&3, &9]));
    let queue = VecDeque::from([7, 8]);
    assert_eq!(of_no_slice(&queue, &[1, 2, 3, 4], 2), [(7, &2), (8, &4)]);
}

#[par_for]
fn taken_by_pattern(y: &mut [Option<usize>], z: &mut [(usize, usize)]) {
    for i in 0..y.len() {
        if let Some(ref mut value) = y[i] {
            *value += 1;
        }
        match y[i] {
            Some(ref mut value) if *value > 2 => *value *= 2,
            _ => {}
        }
        let (ref mut a, ref b) = z[i];
        *a += b;
        let Some(ref mut value) = y[i] else { continue };
        *value += 100;
    }
}

#[par_for]
fn first_of(y: &[Option<String>]) -> Option<&String> {
    for i in 0..y.len() {
        if let Some(ref value) = y[i] {
            return Some(value);
        }
    }
    None
}

#[test]
fn patterns_borrow_elements() {
    let (mut y, mut z) = ([Some(1), None, Some(2)], [(1, 2), (3, 4), (5, 6)]);
    taken_by_pattern(&mut y, &mut z);
    assert_eq!(y, [Some(102), None, Some(106)]);
    assert_eq!(z, [(3, 2), (7, 4), (11, 6)]);
    let words = [None, Some("two".to_owned()), Some("three".to_owned())];
    assert_eq!(first_of(&words).map(String::as_str), Some("two"));
}

/// Sums what jobs add up, each by loops of its own.
#[par_for]
fn in_jobs(x: &[u64], y: &mut [u64], most: &mut u64) -> u64 {
    let job = {
        let x = x.to_vec();
        locsteal::spawn_near!(move || {
            let mut sum = 0;
            #[par_for(reduce(+: sum))]
            for i in 0..x.len() {
                sum += x[i];
            }
            let inner = locsteal::spawn_near!(<weight = 1 + 1, name = "inner", policy = inline> move || {
                #[par_for]
                let doubled: Vec<u64> = for i in 0..x.len() {
                    2 * x[i]
                };
                doubled.iter().sum::<u64>()
            });
            sum + inner.join()
        })
    };
    locsteal::scope(|scope| {
        locsteal::spawn_near!(<scope = scope, weight = y.len()> || {
            #[par_for]
            for i in 0..y.len() {
                y[i] += x[i];
            }
            fn of_its_own(most: &mut u64) {
                let mut greatest = 0;
                #[par_for(reduce(max: greatest))]
                for i in 0..10 {
                    greatest = greatest.max(i);
                }
                *most = greatest;
            }
            of_its_own(most);
        });
    });
    job.join()
}

#[test]
fn marked_loops_in_jobs() {
    let (x, mut y, mut most) = ((0..100).collect::<Vec<_>>(), vec![1; 100], 0);
    assert_eq!(in_jobs(&x, &mut y, &mut most), 3 * 4950);
    assert!(y.iter().zip(&x).all(|(y, x)| *y == x + 1));
    assert_eq!(most, 9);
}

/// The outer loop's iterations spawn what is a marked loop by itself.
#[par_for]
fn jobs_in_a_loop(rows: &mut [Vec<usize>]) {
    #[par_for]
    for i in 0..rows.len() {
        let row = &mut rows[i];
        locsteal::scope(|scope| {
            locsteal::spawn_near!(<scope = scope, weight = i> || {
                #[par_for]
                for j in 0..row.len() {
                    row[j] = i * j;
                }
            });
        });
    }
}

#[test]
fn marked_loops_in_jobs_of_marked_loops() {
    let mut rows = vec![vec![0; 7]; 9];
    jobs_in_a_loop(&mut rows);
    assert!(
        rows.iter().enumerate().all(|(i, row)| row.iter().enumerate().all(|(j, n)| *n == i * j))
    );
}
