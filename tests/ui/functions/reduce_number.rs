//! A number does not say with which operator it is combined.

fn main() {
    let total = locsteal::range(0..10_u32).reduce(|total: &mut u32, i| *total += i);
    println!("{total}");
}
