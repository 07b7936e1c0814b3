//! Reductions: every operator and type against the serial loop, and the reproducible ones bit for bit.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Debug;
use std::num::Wrapping;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use locsteal::reduce::{All, Any, Max, Min, Product, Reduction, Sum, ops};
use locsteal::{Pool, Reduce, Schedule};

const SCHEDULES: [Schedule; 6] = [
    Schedule::Static,
    Schedule::StaticChunk(3),
    Schedule::Steal,
    Schedule::Dynamic,
    Schedule::DynamicChunk(1),
    Schedule::Serial,
];

/// Does what a loop does with a variable, for values that fall to several participants.
fn reduced<Op, T>(mut variable: T, parts: &[&[T]], accumulate: impl Fn(&mut T, &T)) -> T
where
    T: Reduction<Op, Private = T>,
{
    let total = parts
        .iter()
        .map(|part| {
            let mut private = variable.private();
            part.iter().for_each(|value| accumulate(&mut private, value));
            private
        })
        .reduce(|mut earlier, later| {
            T::merge(&mut earlier, later);
            earlier
        });
    if let Some(total) = total {
        variable.finish(total);
    }
    variable
}

/// Holds a reduction against the serial loop, for every way to cut the values into three parts.
fn serial<Op, T>(start: &T, values: &[T], accumulate: impl Fn(&mut T, &T) + Copy)
where
    T: Reduction<Op, Private = T> + Clone + PartialEq + Debug,
{
    let mut expected = start.clone();
    for value in values {
        accumulate(&mut expected, value);
    }
    for first in 0..=values.len() {
        for second in first..=values.len() {
            let parts = [&values[..first], &values[first..second], &values[second..]];
            assert_eq!(reduced::<Op, T>(start.clone(), &parts, accumulate), expected);
        }
    }
}

macro_rules! integer_operators {
    ($($t:ty)*) => {$(
        let values: Vec<$t> = vec![3, 1, 4, 1, 5, 2];
        serial::<ops::Add, $t>(&7, &values, |sum, x| *sum += x);
        serial::<ops::Mul, $t>(&1, &values[..4], |product, x| *product *= x);
        serial::<ops::BitAnd, $t>(&0b101_0111, &[0b111_0011, 0b110_0111], |bits, x| *bits &= x);
        serial::<ops::BitOr, $t>(&0b1, &values, |bits, x| *bits |= x);
        serial::<ops::BitXor, $t>(&0b101_0101, &values, |bits, x| *bits ^= x);
        serial::<ops::Min, $t>(&2, &values, |min, x| *min = (*min).min(*x));
        serial::<ops::Min, $t>(&0, &values, |min, x| if *x < *min { *min = *x });
        serial::<ops::Max, $t>(&2, &values, |max, x| *max = (*max).max(*x));
        serial::<ops::Max, $t>(&<$t>::MAX, &values, |max, x| if *x > *max { *max = *x });
    )*};
}

#[test]
fn operators_on_integers() {
    integer_operators!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize);
    serial::<ops::Add, i8>(&-100, &[50, 50, -28], |sum, x| *sum += x);
    serial::<ops::Add, Wrapping<u8>>(&Wrapping(200), &[Wrapping(100); 3], |sum, x| *sum += x);
    serial::<ops::Add, Duration>(&Duration::ZERO, &[Duration::from_secs(1); 3], |sum, x| {
        *sum += *x;
    });
}

#[test]
fn operators_on_truth_values() {
    for start in [false, true] {
        for values in [vec![], vec![false; 3], vec![true; 3], vec![true, false, true]] {
            serial::<ops::And, bool>(&start, &values, |all, x| *all = *all && *x);
            serial::<ops::Or, bool>(&start, &values, |any, x| *any = *any || *x);
            serial::<ops::BitAnd, bool>(&start, &values, |all, x| *all &= x);
            serial::<ops::BitOr, bool>(&start, &values, |any, x| *any |= x);
            serial::<ops::BitXor, bool>(&start, &values, |odd, x| *odd ^= x);
        }
    }
}

/// Floats whose sums and products are exact, so that the order does not matter; compared bit for bit.
#[test]
fn operators_on_floats() {
    #[derive(Clone, Debug)]
    struct Bits(f64);
    impl PartialEq for Bits {
        fn eq(&self, other: &Self) -> bool {
            self.0.to_bits() == other.0.to_bits() || (self.0.is_nan() && other.0.is_nan())
        }
    }
    fn check<Op>(starts: &[f64], values: &[f64], op: fn(f64, f64) -> f64)
    where
        f64: Reduction<Op, Private = f64>,
    {
        for &start in starts {
            let expected = values.iter().fold(start, |a, b| op(a, *b));
            for cut in 0..=values.len() {
                let parts = [&values[..cut], &values[cut..]];
                let got = reduced::<Op, f64>(start, &parts, |a, b| *a = op(*a, *b));
                assert_eq!(Bits(got), Bits(expected), "{start} and {values:?} cut at {cut}");
            }
        }
    }
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let starts = [0.0, -0.0, 1.5, -4.0, inf, -inf, nan];
    for values in [
        &[][..],
        &[1.0, 2.0, 4.5],
        &[-0.0, -0.0],
        &[nan, nan],
        &[nan, 3.0, nan],
        &[inf, 1.0],
        &[-inf, nan, 8.0],
    ] {
        check::<ops::Add>(&starts, values, |a, b| a + b);
        check::<ops::Mul>(&starts, values, |a, b| a * b);
        check::<ops::Min>(&starts[2..], values, f64::min);
        check::<ops::Max>(&starts[2..], values, f64::max);
        check::<ops::Min>(&starts[2..], values, |a, b| if b < a { b } else { a });
        check::<ops::Max>(&starts[2..], values, |a, b| if b > a { b } else { a });
    }
}

#[test]
fn a_loop_of_no_iterations_leaves_every_bit() {
    for bits in [0, 1 << 63, 0x7FF0_0000_0000_0001, 0xFFF8_0000_0000_1234] {
        let left: f64 = reduced::<ops::Add, f64>(f64::from_bits(bits), &[], |sum, x| *sum += x);
        assert_eq!(left.to_bits(), bits);
    }
    let sum: f64 = locsteal::range(0..0).sum(|_| 1.0);
    assert_eq!(sum.to_bits(), [0.0; 0].iter().sum::<f64>().to_bits());
}

#[test]
fn operators_on_types_that_have_them() {
    let words = ["near", "home", "stay"].map(String::from);
    serial::<ops::Min, String>(&"zebra".into(), &words, |min, x| {
        if x < min {
            min.clone_from(x);
        }
    });
    let mut variable = BTreeSet::from([1]);
    let sets: Vec<BTreeSet<i32>> = [[2, 3], [3, 4]].map(BTreeSet::from).to_vec();
    variable =
        reduced::<ops::Combine, _>(variable, &[&sets[..1], &sets[1..]], |all, x| all.extend(x));
    assert_eq!(variable, BTreeSet::from([1, 2, 3, 4]));
}

#[test]
fn element_by_element() {
    let digits = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5];
    let expected = [0, 2, 1, 2, 1, 3, 1, 0, 0, 1].map(|n: u64| n + 100);

    fn histogram<T>(variable: &mut T, digits: &[usize])
    where
        T: Reduction<ops::Each<ops::Add>, Private: AsMut<[u64]>> + ?Sized,
    {
        let mut total = variable.private();
        for part in digits.chunks(4) {
            let mut private = variable.private();
            for digit in part {
                private.as_mut()[*digit] += 1;
            }
            T::merge(&mut total, private);
        }
        variable.finish(total);
    }

    let mut array = [100; 10];
    histogram(&mut array, &digits);
    assert_eq!(array, expected);
    let mut vec = vec![100; 10];
    histogram(&mut vec, &digits);
    assert_eq!(vec, expected);
    let mut boxed = vec![100; 10].into_boxed_slice();
    histogram(&mut boxed, &digits);
    assert_eq!(*boxed, expected);
    let mut array = [100; 10];
    histogram(&mut array[..], &digits);
    assert_eq!(array, expected);
    let mut reference = &mut [100; 10];
    histogram(&mut reference, &digits);
    assert_eq!(*reference, expected);

    let mut table = [[0_i32; 3]; 2];
    let mut private = Reduction::<ops::Each<ops::Each<ops::Max>>>::private(&table);
    private[1][2] = 7;
    Reduction::<ops::Each<ops::Each<ops::Max>>>::finish(&mut table, private);
    assert_eq!(table, [[0, 0, 0], [0, 0, 7]]);
}

#[test]
fn types_made_of_types_that_can_be_combined() {
    fn combined<R: Reduce>(parts: impl IntoIterator<Item = R>) -> R {
        parts.into_iter().fold(R::identity(), |mut all, part| {
            all.combine(part);
            all
        })
    }
    assert_eq!(combined([[Sum(1), Sum(2)], [Sum(10), Sum(20)]]), [Sum(11), Sum(22)]);
    assert_eq!(combined([vec![Sum(1)], vec![], vec![Sum(10), Sum(20)]]), [Sum(11), Sum(20)]);
    assert_eq!(vec![Sum(1), Sum(2)].identity_like(), [Sum(0), Sum(0)]);
    assert_eq!((vec![Sum(1)], Product(5)).identity_like(), (vec![Sum(0)], Product(1)));
    assert_eq!([vec![Sum(1)]].identity_like(), [[Sum(0)]]);
    assert_eq!(combined([None, Some(Product(3)), None, Some(Product(4))]), Some(Product(12)));
    assert_eq!(
        combined([(All(true), Any(false)), (All(false), Any(true))]),
        (All(false), Any(true))
    );
    assert_eq!(combined([Box::new(Max(Some(1))), Box::new(Max(None))]), Box::new(Max(Some(1))));
    assert_eq!(combined::<Min<i32>>([]), Min(None));
    let map = |pairs: &[(char, i32)]| {
        pairs.iter().map(|(k, v)| (*k, Sum(*v))).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(
        combined([map(&[('a', 1), ('b', 2)]), map(&[('b', 3)])]),
        map(&[('a', 1), ('b', 5)])
    );
    let hashed = combined([map(&[('a', 1)]), map(&[('a', 2)])].map(HashMap::from_iter));
    assert_eq!(hashed, HashMap::from([('a', Sum(3))]));
    assert_eq!(combined([HashSet::from([1, 2]), HashSet::from([2, 3])]), HashSet::from([1, 2, 3]));
    combined([(), ()]);
    let mut min = Min(None);
    for x in [f64::NAN, 3.0, f64::NAN, -1.0] {
        min.see(x);
    }
    assert_eq!(min.0, Some(-1.0));
    let mut nan = Max(Some(f64::NAN));
    nan.combine(Max(Some(f64::NEG_INFINITY)));
    assert_eq!(nan.0, Some(f64::NEG_INFINITY));
}

#[test]
fn loops_for_one_value() {
    let pool = Pool::builder().threads(3).build().unwrap();
    for schedule in SCHEDULES {
        for reproducible in [false, true] {
            for len in [0_u64, 1, 2, 3, 50, 1000, 3001] {
                let begin = || {
                    let begun = locsteal::range(0..len).pool(&pool).schedule(schedule);
                    if reproducible { begun.reproducible() } else { begun }
                };
                assert_eq!(begin().sum(|i| i), (0..len).sum());
                let float = begin().sum(|i| i as f64);
                assert_eq!(float.to_bits(), (0..len).map(|i| i as f64).sum::<f64>().to_bits());
                assert_eq!(
                    begin().product(|i| Wrapping(2 * i + 1)),
                    (0..len).map(|i| Wrapping(2 * i + 1)).product()
                );
                assert_eq!(begin().min(|i| i * 37 % 101), (0..len).map(|i| i * 37 % 101).min());
                assert_eq!(begin().max(|i| i * 37 % 101), (0..len).map(|i| i * 37 % 101).max());
                let xor = begin().map_reduce(|| 0, |i| i * i, |a, b| a ^ b);
                assert_eq!(xor, (0..len).fold(0, |a, i| a ^ (i * i)));
                let mut all =
                    begin().fold_reduce(Vec::new, Vec::push, |all, mut more| all.append(&mut more));
                if !reproducible {
                    all.sort_unstable();
                }
                assert!(all.into_iter().eq(0..len));
                let counts =
                    begin().reduce(|counts: &mut [Sum<u64>; 7], i| counts[i as usize % 7] += i);
                assert_eq!(counts.iter().map(|count| count.0).sum::<u64>(), (0..len).sum());
            }
        }
    }
}

/// Values of all magnitudes, so that every order of adding them gives another sum.
fn noise(len: usize) -> Vec<f64> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..len)
        .map(|_| (next() as f64 / u64::MAX as f64 - 0.5) * 10_f64.powi((next() % 17) as i32 - 8))
        .collect()
}

#[test]
fn the_same_bits_for_every_width_schedule_and_run() {
    for len in [1, 2, 255, 256, 257, 1000, 4099, 70_001] {
        let x = noise(len);
        let mut sums = HashSet::new();
        let mut texts = HashSet::new();
        for threads in 1..=16 {
            let pool = Pool::builder().threads(threads).build().unwrap();
            for schedule in SCHEDULES {
                let begin = || locsteal::source(&x).pool(&pool).schedule(schedule).reproducible();
                sums.insert(begin().sum(|x| *x).to_bits());
                sums.insert(begin().grain(1).map_reduce(|| -0.0, |x| *x, |a, b| a + b).to_bits());
                if threads % 5 == 0 && len < 1000 {
                    // Not commutative: the text tells the order and the grouping.
                    texts.insert(begin().enumerate().fold_reduce(
                        String::new,
                        |text, (i, _)| text.extend([i.to_string(), ".".into()]),
                        |text, more| *text = format!("({text}{more})"),
                    ));
                }
            }
        }
        assert_eq!(sums.len(), 1, "length {len}");
        assert!(texts.len() <= 1, "length {len}");
        let plain: HashSet<u64> = (1..4)
            .map(|shift| x.iter().skip(shift).chain(&x[..shift.min(len)]).sum::<f64>().to_bits())
            .collect();
        assert!(len < 255 || plain.len() > 1, "the values tell one order from another");
    }
}

#[test]
fn the_error_is_as_small_as_promised() {
    for len in [1000, 70_001, 1_000_000] {
        let x: Vec<f32> = noise(len).into_iter().map(|x| x as f32).collect();
        let exact: f64 = x.iter().map(|x| f64::from(*x)).sum();
        let magnitude: f64 = x.iter().map(|x| f64::from(x.abs())).sum();
        let leaves = (len / 16).clamp(64, 256).max((len / 64).min(1024));
        let bound = (len.div_ceil(leaves) as f64 + (leaves as f64).log2())
            * f64::from(f32::EPSILON)
            * magnitude;
        let sum = locsteal::source(&x).reproducible().sum(|x| *x);
        assert!((f64::from(sum) - exact).abs() <= bound);
    }
}

#[test]
fn panics_in_any_closure_reach_the_caller_and_drop_everything_once() {
    struct Value<'a>(&'a AtomicUsize);
    impl<'a> Value<'a> {
        fn new(alive: &'a AtomicUsize) -> Self {
            alive.fetch_add(1, Relaxed);
            Value(alive)
        }
    }
    impl Drop for Value<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Relaxed);
        }
    }
    let pool = Pool::builder().threads(3).build().unwrap();
    let alive = AtomicUsize::new(0);
    for schedule in SCHEDULES {
        for reproducible in [false, true] {
            for (place, name) in ["identity", "map", "combine"].into_iter().enumerate() {
                for nth in [0, 1, 5, 40] {
                    let calls = AtomicUsize::new(0);
                    let at = |here| {
                        if here == place && calls.fetch_add(1, Relaxed) == nth {
                            resume_unwind(Box::new(name));
                        }
                    };
                    let caught = catch_unwind(AssertUnwindSafe(|| {
                        let begun = locsteal::range(0..200).pool(&pool).schedule(schedule);
                        let begun = if reproducible { begun.reproducible() } else { begun };
                        drop(begun.map_reduce(
                            || {
                                at(0);
                                Value::new(&alive)
                            },
                            |_| {
                                at(1);
                                Value::new(&alive)
                            },
                            |a, b| {
                                at(2);
                                drop(b);
                                a
                            },
                        ));
                    }));
                    assert_eq!(caught.is_err(), calls.load(Relaxed) > nth);
                    if let Err(payload) = caught {
                        assert_eq!(*payload.downcast::<&str>().unwrap(), name);
                    }
                    assert_eq!(alive.load(Relaxed), 0, "{name} {nth}, {schedule:?}");
                }
            }
        }
    }
}

#[test]
fn loops_inside_every_closure_of_a_loop() {
    let inner = || locsteal::range(0..10_u64).schedule(Schedule::DynamicChunk(1)).sum(|i| i);
    for reproducible in [false, true] {
        let begun = locsteal::range(0..20_u64).schedule(Schedule::DynamicChunk(1));
        let begun = if reproducible { begun.reproducible() } else { begun };
        let total = begun.map_reduce(|| inner() - 45, |i| i + inner(), |a, b| a + b + inner() - 45);
        assert_eq!(total, 190 + 20 * 45);
    }
}
