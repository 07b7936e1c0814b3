//! Marked loops in the jobs that a function spawns.

use locsteal::par_for;

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
