use locsteal::par_for;

#[par_for]
fn f(name: String) {
    for _ in 0..10 {
        drop(name);
    }
}

fn main() {}
