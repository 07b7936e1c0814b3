use locsteal::par_for;

#[par_for]
fn f(y: &mut [u32]) {
    for i in 0..y.len() {
        y[i] = "text";
        y[i] = undefined;
        let z: String = i;
    }
}

fn main() {}
