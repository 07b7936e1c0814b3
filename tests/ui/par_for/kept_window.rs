use locsteal::par_for;

#[par_for]
fn f(y: &mut [u32]) {
    #[par_for(local(kept: Vec<&mut u32> = Vec::new()))]
    for i in 0..y.len() {
        kept.push(&mut y[i]);
    }
}

fn main() {}
