use locsteal::par_for;

struct Odd;

#[par_for]
fn f() -> Option<()> {
    for _ in 0..10 {
        Odd?;
    }
    None
}

fn main() {}
