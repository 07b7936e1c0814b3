use locsteal::par_for;

#[par_for]
fn f(y: &mut [usize]) -> usize {
    let (mut sum, mut other) = (1, 2);
    #[par_for(reduce(+: sum), reduce(+: other))]
    for i in 0..y.len() {
        sum += 1;
        #[par_for(reduce(*: other))]
        for j in 0..i {
            other *= sum + j;
        }
    }
    sum + other
}

fn main() {}
