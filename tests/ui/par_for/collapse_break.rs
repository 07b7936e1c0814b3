use locsteal::par_for;

#[par_for]
fn f(n: usize) {
    #[par_for(collapse = 2)]
    'outer: for i in 0..n {
        for j in 0..n {
            if i * j == 6 {
                break;
            }
            if i * j == 8 {
                continue 'outer;
            }
        }
    }
}

fn main() {}
