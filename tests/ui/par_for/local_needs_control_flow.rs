use locsteal::par_for;

#[par_for]
fn f(text: &str) -> Result<(), std::num::ParseIntError> {
    #[par_for(local(n = text.parse::<u32>()?))]
    for _ in 0..10 {
        n += 1;
    }
    Ok(())
}

fn main() {}
