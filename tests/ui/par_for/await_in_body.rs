use locsteal::par_for;

#[par_for]
async fn f(y: &mut [u32]) {
    for i in 0..y.len() {
        y[i] = std::future::ready(1).await;
    }
}

fn main() {}
