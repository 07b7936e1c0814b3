use locsteal::par_for;

#[par_for]
fn f(c: &mut [Vec<f64>], n: usize) {
    #[par_for(collapse = 2)]
    for i in 0..c.len() {
        for j in 0..n {
            c[i][j] = 1.0;
        }
    }
}

fn main() {}
