use locsteal::par_for;
use std::collections::HashSet;

#[par_for(reduce(seen))]
fn values(x: &[usize], fresh: &mut [bool], count: &mut [usize]) -> HashSet<usize> {
    let mut seen: HashSet<usize> = HashSet::new();
    for i in 0..x.len() {
        seen.insert(1);
        let _ = seen.insert(2);
        fresh[i] = seen.insert(x[i]);
        let before = seen.len();
        let twice = 2 * before;
        count[i] = twice;
        println!("{seen:?}");
        eprintln!("{}", before);
    }
    seen
}

#[par_for]
fn branches(x: &[usize], y: &mut [usize]) -> Option<usize> {
    let (mut seen, mut count) = (HashSet::from([0usize]), 0);
    #[par_for(reduce(seen), reduce(+: count))]
    for i in 0..x.len() {
        if !seen.insert(3) {
            continue;
        }
        if !seen.contains(&x[i]) {
            seen.insert(x[i]);
            count += 1;
        }
        match seen.len() {
            1000 => return Some(i),
            _ => y[i] = 1,
        }
        for known in &seen {
            y[i] += 1;
        }
    }
    Some(count)
}

#[par_for]
fn yields(x: &[usize]) -> Vec<usize> {
    let mut seen: HashSet<usize> = HashSet::new();
    #[par_for(reduce(seen))]
    let counts: Vec<usize> = for i in 0..x.len() {
        seen.insert(x[i]);
        seen.len()
    };
    counts
}

fn main() {}
