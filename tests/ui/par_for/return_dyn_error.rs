use locsteal::par_for;
use std::error::Error;

#[par_for]
fn f(x: &[&str]) -> Result<(), Box<dyn Error>> {
    for i in 0..x.len() {
        let _: u32 = x[i].parse()?;
        if x[i].is_empty() {
            return Err("empty".into());
        }
    }
    Ok(())
}

fn main() {}
