//! Where `continue`, `break`, `return` and `?` lead.

use locsteal::par_for;

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
