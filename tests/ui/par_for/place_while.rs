use locsteal::par_for;

#[par_for]
fn f(mut n: u32) {
    while n > 0 {
        n -= 1;
    }
}

fn main() {}
