use locsteal::par_for;

#[par_for]
fn reversed(x: &mut [f64]) {
    let n = x.len();
    for i in 0..n / 2 {
        x.swap(i, n - 1 - i);
    }
}

#[par_for(own(x))]
fn owned(x: &mut Vec<u32>, to: &[usize]) {
    for i in 0..to.len() {
        x.swap(i, to[i]);
    }
}

#[par_for]
fn elements(x: &mut [u32]) {
    for i in 0..x.len() {
        if let Some(element) = x.get_mut(i) {
            *element += 1;
        }
    }
}

fn main() {}
