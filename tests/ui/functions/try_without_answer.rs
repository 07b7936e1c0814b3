//! The closure must say whether the loop goes on.

fn main() {
    locsteal::range(0..10).try_for_each(|i| i < 5);
}
