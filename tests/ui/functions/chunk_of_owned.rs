//! A chunk of owned elements cannot outlive the loop.

fn main() {
    let words = vec![String::from("near")];
    locsteal::source(words).for_each_chunk(|chunk| println!("{}", chunk.count()));
}
