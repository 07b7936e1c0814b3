use locsteal::par_for;

#[par_for]
fn f(n: usize) -> Vec<usize> {
    #[par_for]
    let squares: Vec<usize> = for i in 0..n {
        i * i;
    };
    squares
}

fn main() {}
