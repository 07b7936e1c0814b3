use locsteal::par_for;

macro_rules! id {
    ($e:expr) => {
        $e
    };
}

macro_rules! log {
    ($($t:tt)*) => {
        println!($($t)*)
    };
}

#[par_for(reduce(+: sum))]
fn f(y: &mut [usize]) -> usize {
    let mut sum = 0;
    macro_rules! current {
        () => {
            sum
        };
    }
    macro_rules! last {
        () => {
            current!() - 1
        };
    }
    for i in 0..y.len() {
        sum += 1;
        y[i] = id!(sum);
        y[i] = last!();
        log!("so far {sum}");
    }
    sum
}

struct Total {
    sum: usize,
    step: usize,
}

impl Total {
    #[par_for(reduce(+: self.sum))]
    fn f(&mut self, y: &mut [usize]) {
        for i in 0..y.len() {
            self.sum += id!(self.step);
            y[i] = id!(self.sum);
        }
    }
}

fn main() {}
