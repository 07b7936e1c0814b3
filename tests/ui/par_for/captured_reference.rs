use locsteal::par_for;

#[par_for]
fn f(flag: &mut bool) {
    for i in 0..10 {
        if i == 5 {
            *flag = true;
        }
        std::mem::swap(flag, &mut false);
    }
}

fn main() {}
