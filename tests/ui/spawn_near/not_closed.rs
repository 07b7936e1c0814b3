use locsteal::spawn_near;

fn main() {
    let (a, b) = (1, 2);
    spawn_near!(<weight = 3 || 1);
    spawn_near!(<weight = a < b> || 1);
    spawn_near!(<weight = if a > b { a } else { b }> || 1);
}
