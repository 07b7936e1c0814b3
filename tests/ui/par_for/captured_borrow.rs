use locsteal::par_for;

fn bump(x: &mut u32) {
    *x += 1;
}

#[par_for]
fn f() -> u32 {
    let mut x = 0;
    for _ in 0..10 {
        bump(&mut x);
    }
    x
}

fn main() {}
