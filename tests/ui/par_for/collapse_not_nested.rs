use locsteal::par_for;

#[par_for]
fn f(n: usize) {
    #[par_for(collapse = 2)]
    for i in 0..n {
        let k = i * i;
        for j in 0..n {
            std::hint::black_box(j + k);
        }
    }
    #[par_for(collapse = 3)]
    for i in 0..n {
        for j in 0..n {
            std::hint::black_box(i + j);
        }
    }
}

fn main() {}
