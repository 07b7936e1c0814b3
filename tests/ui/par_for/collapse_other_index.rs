use locsteal::par_for;

#[par_for]
fn f(c: &mut [f64], n: usize, m: usize) {
    #[par_for(collapse = 2)]
    for i in 0..n {
        for j in 0..m {
            c[i * m + j] = c[i * m + j + 1];
        }
    }
}

fn main() {}
