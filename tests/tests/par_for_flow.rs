//! What can keep an iteration from reaching a place, and exits that leave several loops: a place that is not certain to be
//! reached is looked at when it is reached.
#![forbid(unsafe_code)]
#![allow(
    clippy::never_loop,
    clippy::eq_op,
    clippy::diverging_sub_expression,
    clippy::needless_range_loop,
    clippy::question_mark,
    clippy::manual_let_else,
    clippy::match_like_matches_macro,
    unused_braces,
    reason = "odd bodies are what is tested"
)]

use locsteal::{Schedule, par_for};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

const SCHEDULES: [Schedule; 5] = [
    Schedule::Static,
    Schedule::StaticChunk(1),
    Schedule::Steal,
    Schedule::DynamicChunk(1),
    Schedule::Serial,
];

/// Bodies that read `x[i]` only where it is there, each in a loop over more elements than `x` has. `y[i]` is 7 where it is not.
macro_rules! guarded {
    ($($name:ident |$i:ident, $x:ident| $value:block)*) => {
        $(
            #[par_for]
            fn $name($x: &[usize], y: &mut [usize]) {
                for $i in 0..y.len() {
                    y[$i] = $value;
                }
            }
        )*

        #[test]
        fn what_is_guarded_is_not_read_before() {
            $({
                let x = [1; 5];
                let mut y = [0; 8];
                $name(&x, &mut y);
                assert_eq!(y, [1, 1, 1, 1, 1, 7, 7, 7], stringify!($name));
            })*
        }
    };
}

guarded! {
    break_of_a_block |i, x| {
        'a: {
            if i >= x.len() {
                break 'a 7;
            }
            x[i]
        }
    }
    break_of_an_outer_block |i, x| {
        'a: {
            'b: {
                if i >= x.len() {
                    break 'a 7;
                }
                if x.is_empty() {
                    break 'b;
                }
            }
            x[i]
        }
    }
    question_mark_in_a_closure |i, x| {
        let read = || -> Option<usize> {
            (i < x.len()).then_some(())?;
            Some(x[i])
        };
        read().unwrap_or(7)
    }
    return_in_a_closure |i, x| {
        let read = || {
            if i >= x.len() {
                return 7;
            }
            x[i]
        };
        read()
    }
    break_of_a_loop |i, x| {
        loop {
            if i >= x.len() {
                break 7;
            }
            break x[i];
        }
    }
    while_loop |i, x| {
        let mut value = 7;
        let mut left = Some(()).filter(|()| i < x.len());
        while let Some(()) = left.take() {
            value = x[i];
        }
        value
    }
    while_condition |i, x| {
        let mut value = 7;
        while value == 7 && i < x.len() && x[i] == 1 {
            value = 1;
        }
        value
    }
    continue_of_a_labelled_loop |i, x| {
        let mut value = 7;
        'rounds: for round in 0..2 {
            loop {
                if i >= x.len() {
                    continue 'rounds;
                }
                break;
            }
            value = x[i] * (round + 1) - round;
        }
        value
    }
    let_else |i, x| {
        'a: {
            let Some(_) = x.get(i) else { break 'a 7 };
            x[i]
        }
    }
    right_side_of_and |i, x| { if i < x.len() && x[i] == 1 { 1 } else { 7 } }
    right_side_of_or |i, x| { if i >= x.len() || x[i] != 1 { 7 } else { 1 } }
    chain |i, x| { if let Some(v) = x.get(i) && x[i] == *v { x[i] } else { 7 } }
    guard |i, x| {
        match i {
            k if k >= x.len() => 7,
            _ if x[i] == 1 => x[i],
            _ => 9,
        }
    }
    guard_of_matches |i, x| { if matches!(x.get(i), Some(1) if x[i] == 1) { 1 } else { 7 } }
    arguments_of_assert |i, x| {
        assert!(i < 100, "{}", x[i]);
        assert_eq!(i, i, "{}", x[i]);
        if i < x.len() { x[i] } else { 7 }
    }
    compiled_under_a_condition |i, x| {
        #[cfg(any())]
        let value = x[i];
        #[cfg(any())]
        x[i];
        #[cfg(not(any()))]
        let mut value = [if i < x.len() { x[i] } else { 7 }];
        #[cfg(not(any()))]
        {
            value[i - i] += 1;
        }
        value[0] - 1
    }
    count_of_vec |i, x| { vec![1; if i < x.len() { x[i] } else { 7 }].len() }
    try_block_of_the_library |i, x| {
        let flow: ControlFlow<usize> = (|| {
            if i >= x.len() {
                ControlFlow::Break(7)?;
            }
            ControlFlow::Break(x[i])
        })();
        match flow {
            ControlFlow::Break(value) => value,
            ControlFlow::Continue(()) => 9,
        }
    }
}

fn give_up(i: usize) -> ! {
    std::panic::panic_any(i)
}

struct Given;

impl Given {
    fn up(&self, i: usize) -> ! {
        give_up(i)
    }
}

/// Bodies that do not come back from where `x[i]` is not there, in a way that cannot be seen.
macro_rules! diverging {
    ($($name:ident |$i:ident, $x:ident| $stop:block)*) => {
        $(
            #[par_for]
            fn $name($x: &[usize], y: &mut [usize]) {
                for $i in 0..y.len() {
                    let () = $stop;
                    y[$i] = $x[$i];
                }
            }
        )*

        #[test]
        fn what_does_not_come_back_goes_before() {
            $({
                // Nothing above that iteration, which could fail before it.
                let stopped = catch_unwind(AssertUnwindSafe(|| $name(&[1; 5], &mut [0; 6])));
                let payload = stopped.unwrap_err();
                assert_eq!(payload.downcast_ref::<usize>(), Some(&5), stringify!($name));
            })*
        }
    };
}

diverging! {
    a_function |i, x| {
        if i == x.len() {
            give_up(i);
        }
    }
    a_function_at_the_end |i, x| {
        if i == x.len() {
            give_up(i)
        }
    }
    a_method |i, x| {
        if i == x.len() {
            Given.up(i);
        }
    }
    let_else_that_diverges |i, x| { let Some(_) = x.get(i) else { Given.up(i) }; }
    an_arm |i, x| {
        match x.get(i) {
            Some(_) => {}
            None => give_up(i),
        }
    }
    the_library |i, x| {
        if i == x.len() {
            std::panic::resume_unwind(Box::new(i));
        }
    }
    an_operand |i, x| { let _ = i < x.len() || give_up(i); }
}

#[par_for]
fn asserted_when_debugging(x: &[usize], y: &mut [usize]) {
    for i in 0..y.len() {
        debug_assert!(i >= x.len() || x[i] == 1);
        y[i] = 1;
    }
}

#[test]
fn what_may_be_compiled_away_is_not_certain() {
    let mut y = [0; 8];
    asserted_when_debugging(&[1; 5], &mut y);
    assert_eq!(y, [1; 8]);
}

#[par_for]
fn broken(n: usize, stop: usize, schedule: Schedule) -> usize {
    let mut count = 0;
    #[par_for(reduce(+: count), schedule = (schedule))]
    'outer: for i in 0..n {
        count += 1;
        #[par_for]
        for j in 0..3_usize {
            if i == stop && j == 1 {
                break 'outer;
            }
        }
    }
    count
}

#[par_for]
fn returned(n: usize, stop: usize, schedule: Schedule, count: &mut usize) -> usize {
    #[par_for(reduce(+: *count), schedule = (schedule))]
    for i in 0..n {
        *count += 1;
        for k in 0..2 {
            #[par_for]
            for j in 0..3_usize {
                if i == stop && j + k == 2 {
                    return i;
                }
            }
        }
    }
    n
}

#[par_for]
fn failed(n: usize, stop: usize, schedule: Schedule, count: &mut usize) -> Option<usize> {
    #[par_for(reduce(+: *count), schedule = (schedule))]
    for i in 0..n {
        *count += 1;
        #[par_for]
        for _ in 0..3_usize {
            #[par_for]
            for _ in 0..2_usize {
                (i != stop).then_some(())?;
            }
        }
    }
    Some(n)
}

#[par_for]
fn to_a_block(n: usize, stop: usize, schedule: Schedule) -> (usize, usize) {
    let mut count = 0;
    let left = 'done: {
        #[par_for(reduce(+: count), schedule = (schedule))]
        for i in 0..n {
            count += 1;
            #[par_for]
            for _ in 0..3_usize {
                if i == stop {
                    break 'done i;
                }
            }
        }
        n
    };
    (count, left)
}

#[par_for]
fn continued(n: usize, schedule: Schedule) -> usize {
    let mut count = 0;
    #[par_for(reduce(+: count), schedule = (schedule))]
    'outer: for i in 0..n {
        #[par_for]
        for j in 0..4_usize {
            if i % 3 == 0 && j == 2 {
                continue 'outer;
            }
        }
        count += 1;
    }
    count
}

#[test]
fn what_an_inner_loop_leaves_counts_no_further() {
    for schedule in SCHEDULES {
        for stop in [0, 1, 3, 100, 500, 999] {
            assert_eq!(broken(1000, stop, schedule), stop + 1, "{schedule:?}");
            let mut count = 0;
            assert_eq!(returned(1000, stop, schedule, &mut count), stop);
            assert_eq!(count, stop + 1, "{schedule:?}");
            let mut count = 0;
            assert_eq!(failed(1000, stop, schedule, &mut count), None);
            assert_eq!(count, stop + 1, "{schedule:?}");
            assert_eq!(to_a_block(1000, stop, schedule), (stop + 1, stop), "{schedule:?}");
        }
        assert_eq!(continued(999, schedule), 666, "{schedule:?}");
    }
}
