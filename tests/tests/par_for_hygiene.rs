//! Marked loops among names of the user that look like those of generated code, with every warning an error.
#![forbid(unsafe_code)]
#![deny(warnings, clippy::all)]
#![allow(dead_code, unused_macros, non_camel_case_types, reason = "names that are in the way")]

extern crate locsteal as par;

mod core {
    pub(crate) struct option;
}

mod std {}

mod locsteal {
    pub(crate) struct __private;
}

struct Option;
struct Some;
struct None;
type Result<T> = (T,);
trait Fn {}
trait FnMut {}
trait Iterator {}
trait IntoIterator {}
trait Send {}
trait Sync {}
struct Vec;
struct Box;
struct Ended;
struct Or;
struct Frame;
static SITE: u32 = 5;

#[allow(non_snake_case)]
fn Ok(x: u32) -> u32 {
    x
}

#[allow(non_snake_case)]
fn Err() {}

macro_rules! file {
    () => {
        compile_error!("not this one")
    };
}
macro_rules! line {
    () => {
        compile_error!("not this one")
    };
}

use self::par::par_for;

struct Frames {
    frame_0: [u32; 4],
    at: u32,
}

#[par_for]
fn shadows(n: usize, y: &mut [u32]) -> u32 {
    let (
        frame_0,
        launched_0,
        finished_0,
        own_0_0,
        at_0_0,
        index_0,
        value,
        area_0_0,
        part_0_0,
        sums_0,
    ) = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    let frames = Frames { frame_0: [0; 4], at: 1 };
    let mut total = 0u32;
    #[par_for(reduce(+: total), local(slot_0_0 = 1u32), schedule = static(2), name = "shadows")]
    for i in 0..n {
        total += frame_0
            + launched_0
            + finished_0
            + own_0_0
            + at_0_0
            + index_0
            + value
            + area_0_0
            + part_0_0
            + sums_0;
        slot_0_0 += Ok(0) + frames.frame_0[0];
        y[i] = SITE * frames.at + slot_0_0 - slot_0_0;
    }
    total
}

#[test]
fn names_of_generated_code_are_nobody_elses() {
    let mut y = [0; 10];
    assert_eq!(shadows(10, &mut y), 550);
    assert_eq!(y, [5; 10]);
}

#[par_for]
fn leaves(n: usize) -> ::std::option::Option<usize> {
    let value = 17;
    #[par_for]
    for i in 0..n {
        if i == value {
            return ::std::option::Option::Some(value);
        }
        let never_0 = i.checked_add(1)?;
        let _ = never_0;
    }
    ::std::option::Option::None
}

#[test]
fn exits_too() {
    assert_eq!(leaves(100), ::std::option::Option::Some(17));
    assert_eq!(leaves(10), ::std::option::Option::None);
}

/// A loop in a macro, with parts that come through two layers.
macro_rules! fill {
    ($i:ident in $r:expr => $y:ident[$index:expr] = $b:block) => {
        fill!(@inner $i, $r, $y, $index, $b)
    };
    (@inner $i:ident, $r:expr, $y:ident, $index:expr, $b:block) => {
        #[par_for]
        fn filled($y: &mut [usize]) {
            for $i in $r {
                $y[$index] = $b;
            }
        }
    };
}

macro_rules! marked {
    ($body:block) => {
        #[par_for]
        fn run(n: usize) {
            let mut i = n;
            i += 1;
            #[par_for]
            for _ in 0..n $body
            let _ = i;
        }
    };
}

#[test]
fn loops_in_macros() {
    fill!(k in 0..10 => y[k] = {
        let half = k / 2;
        half * 2 + k % 2
    });
    let mut y = [0; 10];
    filled(&mut y);
    assert_eq!(y[9], 9);
    marked!({
        let _ = 5;
    });
    run(10);
}

#[par_for]
#[allow(clippy::needless_range_loop, reason = "kept as it is")]
fn attributes_are_kept(x: &[f64]) -> f64 {
    let mut most = f64::NEG_INFINITY;
    #[allow(unused_variables)]
    #[par_for(reduce(max: most))]
    #[allow(clippy::manual_memcpy)]
    for i in 0..x.len() {
        let unused = 1;
        if x[i] > most {
            most = x[i];
        }
    }
    most
}

#[test]
fn attributes_of_loops_work() {
    assert_eq!(attributes_are_kept(&[1.0, 5.0, 2.0]), 5.0);
}
