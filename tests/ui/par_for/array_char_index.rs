use locsteal::par_for;

#[par_for]
fn f(y: &mut [usize]) {
    for c in 'a'..'z' {
        y[c as usize] = 1;
    }
}

fn main() {}
