use locsteal::spawn_near;

fn main() {
    spawn_near!(<weight = 3_u64> || 1);
    spawn_near!(<near = 3> || 1);
    spawn_near!(<pool = 3> || 1);
    spawn_near!(<scope = 3> || 1);
}
