use locsteal::{par_for, spawn_near};

#[par_for]
fn f(mut y: Vec<usize>) {
    spawn_near!(<weight = y.len(), name = "job"> move || {
        #[par_for]
        for i in 0..y.len() - 1 {
            y[i + 1] = i;
        }
        #[par_for]
        let v: Vec<usize> = for i in 0..3 {
            i
        };
        v
    });
}

#[par_for]
fn in_an_option() {
    spawn_near!(<weight = {
        #[par_for]
        for _ in 0..3 {}
        1
    }> || 1);
}

fn main() {}
