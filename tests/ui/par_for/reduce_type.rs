use locsteal::par_for;

#[par_for(reduce(&&: s))]
fn f(n: u32) -> u32 {
    let mut s = 0u32;
    for i in 0..n {
        s &= i;
    }
    s
}

fn main() {}
