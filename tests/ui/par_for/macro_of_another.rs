use locsteal::par_for;

macro_rules! print {
    ($e:expr) => {
        if $e {
            continue;
        }
    };
}

#[par_for]
fn f(x: &[usize], y: &mut [usize]) {
    for i in 0..y.len() {
        print!(i >= x.len());
        y[i] = x[i];
    }
}

fn main() {}
