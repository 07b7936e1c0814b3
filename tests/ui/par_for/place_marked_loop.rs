use locsteal::par_for;

#[par_for]
fn f() {
    #[par_for]
    loop {
        break;
    }
}

fn main() {}
