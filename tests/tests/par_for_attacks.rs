//! Bodies that try to get at what belongs to other iterations, and bodies that look as if they did. Safe code is right or
//! is refused, whatever it does; what the compiler refuses stands in `ui/`.
#![forbid(unsafe_code)]
#![allow(
    clippy::single_element_loop,
    clippy::needless_continue,
    reason = "odd bodies are what is tested"
)]

use locsteal::{Schedule, par_for};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

fn panics(run: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(run)).is_err()
}

macro_rules! element {
    ($y:ident, $i:expr) => {
        $y[$i]
    };
}

macro_rules! declare {
    ($name:ident = $value:expr) => {
        let $name = $value;
    };
}

macro_rules! next_iteration {
    () => {
        continue
    };
}

macro_rules! last_iteration {
    () => {
        break
    };
}

#[par_for]
fn through_macros(y: &mut [usize], by: usize) {
    for i in 0..y.len() {
        y[i] = 0;
        element!(y, i + by) += 1;
        element!(y, i) += y.len();
    }
}

#[test]
fn an_index_in_a_macro_is_checked() {
    let mut y = [9; 20];
    through_macros(&mut y, 0);
    assert_eq!(y, [21; 20]);
    assert!(panics(|| through_macros(&mut y, 1)));
}

#[par_for]
fn shadowed_by_macros(x: &[usize], y: &mut [usize]) {
    for i in 0..y.len() {
        declare!(x = [100, 200]);
        declare!(j = i);
        y[i] = x[i % 2] + j - i;
        declare!(i = i * 2);
        if i < 2 * y.len() && i % 4 == 5 {
            y[i] = 1;
        }
    }
    assert_eq!(x.len(), 1);
}

#[par_for]
fn views_and_macros(x: &[usize], y: &mut [usize]) {
    for i in 0..y.len() {
        y[i] = x[i];
        declare!(x = vec![7; 1000]);
        y[i] += x[i];
    }
}

#[test]
fn names_that_macros_bind_are_those_of_the_macro() {
    let mut y = [0; 10];
    shadowed_by_macros(&[1], &mut y);
    assert_eq!(y[..4], [100, 200, 100, 200]);
    let x: Vec<usize> = (0..10).collect();
    views_and_macros(&x, &mut y);
    assert_eq!(y, [7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
}

#[par_for]
fn hidden_jumps(y: &mut [usize], stop: usize) -> usize {
    let mut count = 0;
    #[par_for(reduce(+: count))]
    for i in 0..y.len() {
        if i % 3 == 0 {
            next_iteration!();
        }
        if i == stop {
            last_iteration!();
        }
        y[i] += 1;
        count += 1;
    }
    count
}

#[test]
fn jumps_in_macros_are_jumps() {
    for stop in [1, 2, 500, 997, 998, 1000] {
        let mut y = vec![0; 999];
        let expected = (0..stop.min(999)).filter(|i| i % 3 != 0).count();
        assert_eq!(hidden_jumps(&mut y, stop), expected, "{stop}");
        assert!(y[..stop.min(999)].iter().enumerate().all(|(i, y)| *y == usize::from(i % 3 != 0)));
    }
}

#[par_for]
fn index_of_another_kind(y: &mut [usize], how: usize) {
    for i in 0..y.len() {
        y[i] = 1;
        let k = match how {
            0 => i,
            1 => i ^ 1,
            _ => i.wrapping_add(how),
        };
        y[k] += 1;
        let mut set = |at: usize| y[at] += 1;
        set(k);
        for j in [k] {
            y[std::convert::identity(j)] += 1;
        }
    }
}

#[test]
fn what_is_not_judged_is_checked() {
    let mut y = [0; 8];
    index_of_another_kind(&mut y, 0);
    assert_eq!(y, [4; 8]);
    assert!(panics(|| index_of_another_kind(&mut [0; 8], 1)));
    assert!(panics(|| index_of_another_kind(&mut [0; 8], 3)));
    assert!(panics(|| index_of_another_kind(&mut [0; 8], usize::MAX)));
}

#[par_for]
fn swaps(y: &mut [Vec<usize>], z: &mut [Vec<usize>]) {
    for i in 0..y.len() {
        std::mem::swap(&mut y[i], &mut z[i]);
        let taken = std::mem::take(&mut y[i]);
        y[i].extend(taken.into_iter().rev());
        let (a, b) = (&mut y[i], &mut z[i]);
        a.append(b);
    }
}

#[test]
fn elements_are_swapped_and_taken() {
    let mut y = vec![vec![1, 2]; 50];
    let mut z = vec![vec![3, 4, 5]; 50];
    swaps(&mut y, &mut z);
    assert_eq!(y, vec![vec![5, 4, 3, 1, 2]; 50]);
    assert_eq!(z, vec![Vec::<usize>::new(); 50]);
}

#[par_for]
fn other_threads(y: &mut [usize]) {
    for i in 0..y.len() {
        std::thread::scope(|s| {
            let element = &mut y[i];
            s.spawn(move || *element += i);
        });
    }
}

#[test]
fn an_element_may_visit_another_thread() {
    let mut y = [1; 12];
    other_threads(&mut y);
    assert!(y.iter().enumerate().all(|(i, y)| *y == i + 1));
}

#[par_for]
fn kept(y: &mut [usize]) -> usize {
    let most = Mutex::new(0);
    #[par_for(local(last: Option<usize> = None))]
    for i in 0..y.len() {
        y[i] = last.replace(i).map_or(0, |last| usize::from(last >= i));
        *most.lock().unwrap() += 1;
    }
    most.into_inner().unwrap()
}

#[test]
fn chunks_of_a_participant_go_upwards_within() {
    let mut y = vec![5; 1000];
    assert_eq!(kept(&mut y), 1000);
    assert!(y.iter().filter(|y| **y == 1).count() < 1000);
}

#[par_for]
fn nested_ownership(c: &mut [usize], n: usize, m: usize) {
    #[par_for(own(c.chunks(m)))]
    for i in 0..n {
        let row = &mut c[i * m..(i + 1) * m];
        #[par_for(schedule = static(2))]
        for j in 0..row.len() {
            row[j] = 100 * i + j;
        }
        #[par_for(grain = 1)]
        for k in i * m..(i + 1) * m {
            c[k] += 1000;
        }
        #[par_for(own(c.chunks(2)))]
        for k in i * m / 2..(i + 1) * m / 2 {
            c[2 * k] += 10_000;
        }
    }
}

#[test]
fn windows_are_owned_again() {
    let (n, m) = (7, 6);
    let mut c = vec![0; n * m];
    nested_ownership(&mut c, n, m);
    for (k, c) in c.iter().enumerate() {
        assert_eq!(*c, 100 * (k / m) + k % m + 1000 + if k % 2 == 0 { 10_000 } else { 0 }, "{k}");
    }
}

#[par_for]
fn drops_in_the_body(y: &mut [Option<Counted>], live: &'static AtomicUsize) {
    for i in 0..y.len() {
        y[i] = Some(Counted::new(live));
        assert!(i != 600);
    }
}

#[derive(Clone)]
struct Counted(&'static AtomicUsize);

impl Counted {
    fn new(live: &'static AtomicUsize) -> Self {
        live.fetch_add(1, Relaxed);
        Self(live)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[test]
fn a_panic_leaves_every_element_whole() {
    static LIVE: AtomicUsize = AtomicUsize::new(0);
    let mut y: Vec<Option<Counted>> = vec![None; 1000];
    assert!(panics(|| drops_in_the_body(&mut y, &LIVE)));
    assert_eq!(LIVE.load(Relaxed), y.iter().flatten().count());
    drop(y);
    assert_eq!(LIVE.load(Relaxed), 0);
}

#[par_for]
fn by_value(items: Vec<Counted>, stop: usize, panic: bool) -> usize {
    let done = AtomicUsize::new(0);
    #[par_for(schedule = dynamic(3))]
    for (i, item) in items.into_iter().enumerate() {
        if i == stop {
            assert!(!panic);
            break;
        }
        drop(item);
        done.fetch_add(1, Relaxed);
    }
    done.into_inner()
}

#[test]
fn items_that_are_not_reached_are_dropped_once() {
    static LIVE: AtomicUsize = AtomicUsize::new(0);
    let make = || (0..500).map(|_| Counted::new(&LIVE)).collect::<Vec<_>>();
    assert_eq!(by_value(make(), 1000, true), 500);
    assert_eq!(LIVE.load(Relaxed), 0);
    assert!(by_value(make(), 250, false) >= 250);
    assert_eq!(LIVE.load(Relaxed), 0);
    assert!(panics(|| {
        by_value(make(), 333, true);
    }));
    assert_eq!(LIVE.load(Relaxed), 0);
}

struct Awkward;

impl Drop for Awkward {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("dropped");
        }
    }
}

#[par_for]
fn awkward(n: usize, exit: usize) -> Option<usize> {
    for i in 0..n {
        if i == exit {
            return Some(i);
        }
        if i > exit + 20 {
            std::panic::panic_any(Awkward);
        }
    }
    None
}

#[test]
fn a_panic_above_an_exit_counts_for_nothing() {
    for round in 0..200 {
        match catch_unwind(|| awkward(2000, round)) {
            Ok(left) => assert_eq!(left, Some(round)),
            // It came before the exit: it stops the loop, also if an iteration below would have left it.
            Err(payload) => std::mem::forget(payload.downcast::<Awkward>().unwrap()),
        }
    }
}

#[par_for]
fn both(n: usize, exit: usize, panic: usize, schedule: Schedule) -> usize {
    #[par_for(schedule = (schedule))]
    for i in 0..n {
        if i == exit {
            return i;
        }
        if i == panic {
            panic!("{i}");
        }
    }
    n
}

#[test]
fn the_lower_of_exit_and_panic_decides() {
    for schedule in [
        Schedule::Static,
        Schedule::Steal,
        Schedule::Dynamic,
        Schedule::StaticChunk(5),
        Schedule::Serial,
    ] {
        for (exit, panic) in [(10, 500), (499, 500), (0, 1), (700, 2000)] {
            match catch_unwind(|| both(1000, exit, panic, schedule)) {
                Ok(left) => assert_eq!(left, exit),
                // A panic stops the loop at once, also if an iteration below would have left it.
                Err(_) => assert!(panic < 1000 && schedule != Schedule::Serial),
            }
        }
        for (exit, panic) in [(500, 10), (500, 499), (1, 0), (2000, 700)] {
            let payload = catch_unwind(|| both(1000, exit, panic, schedule)).unwrap_err();
            assert_eq!(*payload.downcast::<String>().unwrap(), panic.to_string(), "{schedule:?}");
        }
        assert_eq!(both(1000, 1000, 1000, schedule), 1000);
    }
}

#[par_for]
fn a_static_of_the_body(n: usize) -> usize {
    for _ in 0..n {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        const STEP: usize = 2;
        fn step() -> usize {
            STEP
        }
        if COUNT.fetch_add(step(), Relaxed) == usize::MAX {
            return 0;
        }
        SEEN.store(COUNT.load(Relaxed), Relaxed);
    }
    SEEN.load(Relaxed)
}

static SEEN: AtomicUsize = AtomicUsize::new(0);

#[test]
fn items_of_the_body_are_there_once() {
    a_static_of_the_body(100);
    assert!(SEEN.load(Relaxed) >= 2 && SEEN.load(Relaxed) <= 200);
}

#[par_for]
fn closures_of_the_body(y: &mut [i32]) -> Result<(), String> {
    for i in 0..y.len() {
        let parse = |text: &str| -> Result<i32, std::num::ParseIntError> {
            let value: i32 = text.parse()?;
            if value == 3 {
                return Ok(33);
            }
            Ok(value)
        };
        let all: Vec<i32> = ["1", "3"].iter().map(|text| parse(text).unwrap_or(0)).collect();
        let found = 'found: {
            for value in &all {
                if *value == 33 {
                    break 'found *value;
                }
            }
            0
        };
        let mut rounds = 0;
        let late = loop {
            rounds += 1;
            if rounds == 4 {
                break rounds;
            }
            if rounds == 2 {
                continue;
            }
        };
        y[i] = found + late;
        if y[i] != 37 {
            return Err(format!("{i}"));
        }
    }
    Ok(())
}

#[test]
fn what_is_inside_of_a_body_keeps_its_own_control_flow() {
    let mut y = [0; 20];
    assert_eq!(closures_of_the_body(&mut y), Ok(()));
    assert_eq!(y, [37; 20]);
}
