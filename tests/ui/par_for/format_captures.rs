use locsteal::par_for;

#[par_for(reduce(+: sum), reduce(max: w))]
fn reduced(n: usize) -> usize {
    let (mut sum, mut w) = (0, 1);
    for i in 0..n {
        sum += i;
        w = w.max(i);
        println!("{sum}");
        eprintln!("{i:>w$}");
        assert!(i < n, "{:1$} {sum:?}", i, 4);
        panic!("{{sum}} {sum}", sum = 1);
    }
    sum
}

#[par_for]
fn owned(y: &mut [usize], z: &mut [String]) {
    for i in 0..y.len() {
        y[i] = 1;
        z[i] = format!("{y:?}");
    }
}

fn main() {}
