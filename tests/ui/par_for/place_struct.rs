use locsteal::par_for;

#[par_for]
struct S;

fn main() {}
