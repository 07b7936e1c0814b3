use locsteal::par_for;

#[par_for(reduce(+: s))]
fn f(n: usize) -> String {
    let mut s = String::new();
    for i in 0..n {
        s += &i.to_string();
    }
    s
}

#[par_for(reduce(s))]
fn g(n: usize) -> u32 {
    let mut s = 0;
    for _ in 0..n {
        s += 1;
    }
    s
}

fn main() {}
