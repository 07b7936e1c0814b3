use locsteal::par_for;
use std::collections::HashSet;

#[par_for(reduce(seen))]
fn f(x: &[usize], fresh: &mut [bool], count: &mut [usize]) -> HashSet<usize> {
    let mut seen = HashSet::new();
    for i in 0..x.len() {
        seen.insert(1);
        let _ = seen.insert(2);
        fresh[i] = seen.insert(x[i]);
        if !seen.insert(3) {
            continue;
        }
        count[i] = seen.len();
        println!("{seen:?}");
    }
    seen
}

#[par_for]
fn g(x: &[usize]) -> Vec<usize> {
    let mut seen = HashSet::new();
    #[par_for(reduce(seen))]
    let counts: Vec<usize> = for i in 0..x.len() {
        seen.insert(x[i]);
        seen.len()
    };
    counts
}

fn main() {}
