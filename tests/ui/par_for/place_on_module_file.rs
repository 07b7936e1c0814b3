use locsteal::par_for;

#[par_for]
mod other;

fn main() {}
