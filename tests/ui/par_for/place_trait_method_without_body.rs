use locsteal::par_for;

trait T {
    #[par_for]
    fn f(&self);
}

fn main() {}
