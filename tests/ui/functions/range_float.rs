//! A range of floats has no positions.

fn main() {
    locsteal::range(0.0..1.0).for_each(|x| println!("{x}"));
}
