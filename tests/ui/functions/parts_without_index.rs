//! Elements of a slice have no index that says which part an iteration owns.

fn main() {
    let (x, mut y) = ([1, 2], [0, 0]);
    locsteal::source(&x).for_each_mut(&mut y, |x, y| *y = *x);
}
