use locsteal::par_for;

macro_rules! leave {
    () => {
        return
    };
}

#[par_for]
fn f() {
    for i in 0..10 {
        if i == 5 {
            leave!();
        }
    }
}

fn main() {}
