use locsteal::par_for;

#[par_for]
fn f() -> Option<u32> {
    for i in 0..10 {
        if i == 5 {
            return Some("five");
        }
    }
    None
}

fn main() {}
