use locsteal::par_for;

#[par_for]
fn transposed(c: &mut [f64], n: usize, m: usize) {
    #[par_for(collapse = 2)]
    for i in 0..n {
        for j in 0..m {
            c[j * n + i] = 1.0;
        }
    }
}

#[par_for]
fn said_to_be_owned(c: &mut [f64], n: usize, m: usize) {
    #[par_for(collapse = 3, own(c))]
    for i in 0..n {
        for j in 0..m {
            for k in 0..m {
                c[(i * m + k) * m + j] += 1.0;
            }
        }
    }
}

#[par_for]
fn sums(a: &[f64], c: &mut [f64], n: usize, m: usize) {
    #[par_for(collapse = 2)]
    for i in 0..n {
        for j in 0..m {
            c[i] += a[i * m + j];
        }
    }
}

fn main() {}
