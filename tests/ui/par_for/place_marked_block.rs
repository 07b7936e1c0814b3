use locsteal::par_for;

#[par_for]
fn f() {
    #[par_for]
    {
        let _ = 1;
    }
}

fn main() {}
