use locsteal::par_for;

#[par_for(reduce(+: s))]
fn f<T: Copy + Default + std::ops::AddAssign + Send + Sync>(x: &[T]) -> T {
    let mut s = T::default();
    for i in 0..x.len() {
        s += x[i];
    }
    s
}

fn main() {}
