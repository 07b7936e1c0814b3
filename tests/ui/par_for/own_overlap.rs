use locsteal::par_for;

#[par_for(own(s.a), own(s.a.b))]
fn f(s: &mut S) {
    for i in 0..4 {
        s.a[i] = 1;
        s.a.b[i] = 2;
    }
}

fn main() {}
