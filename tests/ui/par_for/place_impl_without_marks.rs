use locsteal::par_for;

struct S;

#[par_for]
impl S {
    fn f(&self) {}
}

fn main() {}
