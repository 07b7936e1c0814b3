use locsteal::spawn_near;

fn main() {
    let part = vec![1, 2, 3];
    let borrowed = &part;
    spawn_near!(move || borrowed.len()).join();
}
