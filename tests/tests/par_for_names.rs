//! Names in a body that are not what they are outside: items, imports, patterns and macros that declare them. A captured
//! array is what the body means by its name, or is left alone.
#![forbid(unsafe_code)]
#![allow(
    non_upper_case_globals,
    non_snake_case,
    non_camel_case_types,
    unused_braces,
    unused_qualifications,
    clippy::items_after_statements,
    clippy::redundant_closure_call,
    clippy::match_single_binding,
    clippy::infallible_destructuring_match,
    clippy::needless_range_loop,
    clippy::range_plus_one,
    clippy::trivially_copy_pass_by_ref,
    clippy::too_many_lines,
    reason = "odd bodies are what is tested"
)]

use locsteal::par_for;

mod values {
    pub(super) static x: [usize; 4] = [5, 6, 7, 8];
    pub(super) mod inside {
        pub(in super::super) use super::x;
    }
}

macro_rules! named {
    ($name:ident) => {
        $name
    };
}

macro_rules! declare_x {
    () => {
        static x: [usize; 4] = [5, 6, 7, 8];
    };
}

/// Bodies in which `x` is `[5, 6, 7, 8]`, and not the array of that name.
macro_rules! hidden {
    ($($name:ident |$i:ident, $x:ident| $value:block)*) => {
        $(
            #[par_for]
            fn $name($x: &[usize], y: &mut [usize]) {
                #[par_for]
                for $i in 0..y.len() {
                    y[$i] = $value;
                }
                assert_eq!($x.len(), 2);
            }
        )*

        #[test]
        fn a_name_is_that_of_the_body() {
            $({
                let mut y = [0; 4];
                $name(&[1, 2], &mut y);
                assert_eq!(y, [5, 6, 7, 8], stringify!($name));
            })*
        }
    };
}

hidden! {
    constant |i, x| {
        const x: [usize; 4] = [5, 6, 7, 8];
        x[i]
    }
    constant_below |i, x| {
        let value = x[i];
        const x: [usize; 4] = [5, 6, 7, 8];
        value
    }
    constant_around |i, x| {
        const x: [usize; 4] = [5, 6, 7, 8];
        { if i < 9 { x[i] } else { 0 } }
    }
    static_item |i, x| {
        static x: [usize; 4] = [5, 6, 7, 8];
        x[i]
    }
    tuple_struct |i, x| {
        struct x(usize);
        impl x {
            fn value(self) -> usize {
                self.0
            }
        }
        x(i + 5).value()
    }
    function |i, x| {
        fn x(i: usize) -> usize {
            i + 5
        }
        x(i)
    }
    import |i, x| {
        use values::x;
        x[i]
    }
    import_under_another_name |i, x| {
        use values::inside::{x as x};
        x[i]
    }
    glob_import |i, x| {
        use values::*;
        let _ = &inside::x;
        x[i]
    }
    pattern_macro |i, x| {
        let named!(x) = [5, 6, 7, 8];
        x[i]
    }
    pattern_macro_in_a_match |i, x| {
        match [5, 6, 7, 8] {
            named!(x) => x[i],
        }
    }
    pattern_macro_of_a_closure |i, x| { (|named!(x): [usize; 4]| x[i])([5, 6, 7, 8]) }
    items_of_a_macro |i, x| {
        declare_x!();
        x[i]
    }
    items_of_a_macro_below |i, x| {
        let value = x[i];
        declare_x!();
        value
    }
    inner_loop |i, x| {
        let mut sum = 0;
        const x: [usize; 4] = [5, 6, 7, 8];
        for j in 0..i + 1 {
            sum = x[j];
        }
        sum
    }
}

#[par_for]
fn both(x: &[usize], y: &mut [usize]) {
    for i in 0..y.len() {
        y[i] = x[i];
        {
            declare_x!();
            y[i] += x[i];
        }
        y[i] += x[i];
    }
}

#[test]
fn a_name_means_both_in_one_body() {
    let mut y = [0; 4];
    both(&[10, 20, 30, 40], &mut y);
    assert_eq!(y, [25, 46, 67, 88]);
}

#[par_for]
fn index_in_a_pattern_macro(x: &[usize], y: &mut [usize]) {
    for i in 0..y.len() {
        y[i] = 9;
        let k = i;
        let named!(i) = i % 2;
        let named!(k) = k % 2;
        let value = x[i] + x[k];
        assert!(value > 0);
    }
}

#[test]
fn an_index_can_be_declared_by_a_macro() {
    let mut y = [0; 4];
    index_in_a_pattern_macro(&[1, 2], &mut y);
    assert_eq!(y, [9; 4]);
}

#[par_for]
fn capitals(A: &[usize], B: &mut [usize], N: usize) {
    for I in 0..N {
        let mut pair = [0, A[I]];
        let P = &mut pair;
        P[0] += 5;
        B[I] = P[0] + P[1];
        let (Q, R) = (P[0], 1);
        B[I] += Q - R;
    }
}

#[par_for]
fn capitals_in_cases(A: &[usize], y: &mut [usize]) {
    const LIMIT: usize = 2;
    for i in 0..y.len() {
        y[i] = match i {
            LIMIT => 100,
            A => A + 1,
        };
        if let Some(A) = Some([7, 8]) {
            y[i] += A[1];
        }
    }
    assert_eq!(A.len(), 1);
}

#[test]
fn names_in_capitals_are_names() {
    let mut b = [0; 3];
    capitals(&[1, 2, 3], &mut b, 3);
    assert_eq!(b, [10, 11, 12]);
    let mut y = [0; 4];
    capitals_in_cases(&[1], &mut y);
    assert_eq!(y, [9, 10, 108, 12]);
}

#[derive(Clone, Copy)]
struct Step(usize);

impl std::ops::Add<Step> for usize {
    type Output = usize;

    fn add(self, step: Step) -> usize {
        self + step.0
    }
}

impl std::ops::Sub<Step> for usize {
    type Output = usize;

    fn sub(self, step: Step) -> usize {
        self - step.0
    }
}

#[par_for]
fn steps_of_inner_loops(x: &[usize], y: &mut [usize], by: Step, n: usize) {
    for i in 0..y.len() {
        for j in 0..n {
            y[i] += x[j + by] + 10 * x[i + j - by];
        }
    }
}

#[par_for]
fn steps(x: &[usize], y: &mut [usize], by: Step, k: &usize, n: u8) {
    for i in 2..y.len() {
        y[i] = x[i + by] + 10 * x[i - by] + 100 * x[i + k] + 1000 * x[i - usize::from(n)];
    }
}

#[test]
fn what_is_added_to_an_index_need_not_be_a_number() {
    let x: Vec<usize> = (0..9).collect();
    let mut y = [0; 5];
    steps(&x, &mut y, Step(2), &1, 1);
    assert_eq!(y, [0, 0, 1304, 2415, 3526]);
    let mut y = [0; 3];
    steps_of_inner_loops(&x, &mut y, Step(0), 2);
    assert_eq!(y, [11, 31, 51]);
}

/// A macro of the user's that has the name of one of the standard library's, and leaves the iteration.
#[par_for]
fn another_print(x: &[usize], y: &mut [usize]) -> usize {
    let mut count = 0;
    macro_rules! print {
        ($e:expr) => {
            if $e {
                continue;
            }
        };
    }
    macro_rules! assert {
        ($e:expr) => {
            if !$e {
                break;
            }
        };
    }
    #[par_for(reduce(+: count))]
    for i in 0..y.len() {
        print!(i == 1 || i >= x.len());
        assert!(i < 3);
        y[i] = x[i];
        count += 1;
    }
    count
}

#[test]
fn a_macro_of_the_function_is_what_it_is() {
    let mut y = [0; 9];
    assert_eq!(another_print(&[1, 2, 3, 4], &mut y), 2);
    assert_eq!(y[..3], [1, 0, 3]);
}

#[par_for]
fn macros_with_other_fields(total: &mut (usize, usize)) {
    #[par_for(reduce(+: total.0))]
    for i in 0..100_usize {
        total.0 += named_value!(i * total.1);
    }
}

macro_rules! named_value {
    ($e:expr) => {
        $e
    };
}
use named_value;

#[test]
fn macros_may_be_given_other_fields() {
    let mut total = (1, 2);
    macros_with_other_fields(&mut total);
    assert_eq!(total, (1 + 2 * 4950, 2));
}
