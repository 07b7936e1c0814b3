use locsteal::par_for;

#[par_for]
fn f() -> Vec<u32> {
    let v: Vec<u32> = for i in 0..10 {
        if i == 3 {
            continue;
        }
        i
    };
    v
}

fn main() {}
