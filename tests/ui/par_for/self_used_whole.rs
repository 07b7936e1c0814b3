use locsteal::par_for;

struct S {
    y: Vec<f64>,
}

#[par_for]
impl S {
    fn weight(&self, i: usize) -> f64 {
        i as f64
    }

    fn f(&mut self) {
        #[par_for]
        for i in 0..self.y.len() {
            self.y[i] = self.weight(i);
        }
    }
}

fn main() {}
