use locsteal::par_for;

#[par_for]
fn f() {
    #[par_for]
    for _ in 0..2 {}
    println!("{}", {
        #[par_for]
        for _ in 0..3 {}
        1
    });
}

fn main() {}
