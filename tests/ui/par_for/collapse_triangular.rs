use locsteal::par_for;

#[par_for]
fn f(n: usize) {
    #[par_for(collapse = 2)]
    for i in 0..n {
        for j in 0..i {
            std::hint::black_box(j);
        }
    }
}

fn main() {}
