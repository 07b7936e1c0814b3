//! Vectors of what iterations make.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::{SCHEDULES, Value, message, pool};

#[test]
fn collected_values_stand_in_order() {
    let pool = pool();
    for schedule in SCHEDULES {
        for len in [0, 1, 2, 63, 64, 65, 1000] {
            let begin = || locsteal::range(0..len).pool(&pool).schedule(schedule);
            assert!(
                begin()
                    .collect_vec(|i| i.to_string())
                    .into_iter()
                    .eq((0..len).map(|i| i.to_string()))
            );
            let mut again = vec![7; 300];
            let memory = (again.as_ptr(), again.capacity());
            begin().collect_into(&mut again, |i| i * i);
            assert!(again.iter().copied().eq((0..len).map(|i| i * i)));
            if len <= memory.1 {
                assert_eq!((again.as_ptr(), again.capacity()), memory);
            }
            let all: Result<Vec<_>, ()> = begin().try_collect_vec(Ok);
            assert!(all.unwrap().into_iter().eq(0..len));
        }
    }
    assert_eq!(locsteal::range(0..100).collect_vec(drop).len(), 100);
}

#[test]
fn values_that_were_collected_in_vain_are_dropped_once() {
    let pool = pool();
    let alive = AtomicUsize::new(0);
    for schedule in SCHEDULES {
        for bad in [0, 1, 150, 299] {
            let begin = || locsteal::range(0..300).pool(&pool).schedule(schedule);
            let result = begin()
                .try_collect_vec(|i| if i < bad { Ok(Value::new(i, &alive)) } else { Err(i) });
            assert_eq!(result.unwrap_err(), bad);
            assert_eq!(alive.load(SeqCst), 0);
            let option = begin().try_collect_vec(|i| (i != bad).then(|| Value::new(i, &alive)));
            assert!(option.is_none());
            assert_eq!(alive.load(SeqCst), 0);
            let mut values = vec![Value::new(9, &alive)];
            let caught = catch_unwind(AssertUnwindSafe(|| {
                begin().collect_into(&mut values, |i| {
                    if i == bad {
                        resume_unwind(Box::new("made no value"));
                    }
                    Value::new(i, &alive)
                });
            }));
            assert_eq!(message(caught), "made no value");
            assert!(values.is_empty());
            assert_eq!(alive.load(SeqCst), 0);
        }
    }
}

#[test]
fn more_values_than_fit_into_a_vector_are_refused_before_the_loop() {
    let caught = catch_unwind(|| locsteal::range(0..=u64::MAX).name("huge").collect_vec(|i| i));
    let text = message(caught);
    assert!(
        text.contains("`huge`") && text.contains("18446744073709551616 values do not fit"),
        "{text}"
    );
}
