use locsteal::spawn_near;

fn main() {
    let mut part = vec![1, 2, 3];
    spawn_near!(|| part.push(4)).join();
}
