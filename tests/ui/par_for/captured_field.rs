use locsteal::par_for;

struct S {
    count: usize,
}

#[par_for]
impl S {
    fn f(&mut self) {
        #[par_for]
        for i in 0..10 {
            self.count += i;
        }
    }
}

fn main() {}
