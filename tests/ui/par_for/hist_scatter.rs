use locsteal::par_for;

#[par_for]
fn f(data: &[u8], hist: &mut [u32; 256]) {
    for i in 0..data.len() {
        hist[data[i] as usize] += 1;
    }
}

fn main() {}
