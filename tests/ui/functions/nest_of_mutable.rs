//! The inner items of a nest are used again and again.

fn main() {
    let mut cells = vec![0; 4];
    locsteal::range(0..2).nest(&mut cells).for_each(|(i, cell)| *cell += i);
}
