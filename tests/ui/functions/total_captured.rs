//! A running total is not shared.

fn main() {
    let mut total = 0;
    locsteal::range(0..10).for_each(|i| total += i);
    println!("{total}");
}
