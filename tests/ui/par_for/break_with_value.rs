use locsteal::par_for;

#[par_for]
fn f() {
    for i in 0..10 {
        if i == 3 {
            break i;
        }
    }
}

fn main() {}
