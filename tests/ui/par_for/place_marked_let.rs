use locsteal::par_for;

#[par_for]
fn f() {
    #[par_for]
    let _x = 5;
}

fn main() {}
