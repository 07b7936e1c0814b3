use locsteal::spawn_near;

fn main() {
    spawn_near!(|x| x + 1);
    spawn_near!(<weight = 2> move |x: u8, (y, z): (u8, u8)| x + y + z);
}
