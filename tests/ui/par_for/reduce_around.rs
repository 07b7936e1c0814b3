use locsteal::par_for;

#[derive(Clone, Copy)]
struct Total {
    sum: usize,
    step: usize,
}

impl Total {
    fn get(&self) -> usize {
        self.sum
    }

    #[par_for(reduce(+: self.sum))]
    fn f(&mut self, y: &mut [usize]) {
        for i in 0..y.len() {
            self.sum += self.step;
            y[i] = self.get();
        }
    }
}

fn show(total: &Total) -> usize {
    total.sum
}

#[par_for]
fn f(mut t: Total, y: &mut [usize]) {
    #[par_for(reduce(+: t.sum))]
    for i in 0..y.len() {
        t.sum += 1;
        y[i] = show(&t);
        let copy = t;
        #[par_for]
        for _ in 0..copy.step {
            show(&t);
        }
    }
}

fn main() {}
