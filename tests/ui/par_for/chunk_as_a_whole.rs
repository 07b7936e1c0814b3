use locsteal::par_for;

#[par_for(own(c.chunks(m)))]
fn f(c: &mut [usize], n: usize, m: usize) -> usize {
    for i in 0..n {
        c[i * m] = c.len();
        c.fill(0);
        for v in c.iter_mut() {
            *v += 1;
        }
        let (a, b) = c.split_at_mut(m);
        let all = &mut c[..];
        work(c);
    }
    0
}

#[par_for(collapse = 2, own(c.chunks(3)))]
fn g(c: &mut [usize], n: usize) {
    for i in 0..n {
        for j in 0..n {
            c[3 * (i * n + j)] = *c.first().unwrap();
        }
    }
}

fn work(_: &mut [usize]) {}

fn main() {}
