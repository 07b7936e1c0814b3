use locsteal::par_for;

#[par_for]
fn f(text: &str) {
    for c in text.chars() {
        let _ = c;
    }
}

fn main() {}
