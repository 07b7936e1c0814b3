use locsteal::{Near, spawn_near};

fn main() {
    let name = "index";
    spawn_near!(<wieght = 3> || 1);
    spawn_near!(<threads = 3> || 1);
    spawn_near!(<weight = 3, weight = 4> || 1);
    spawn_near!(<weight> || 1);
    spawn_near!(<weight = > || 1);
    spawn_near!(<weight = 3, , name = "x"> || 1);
    spawn_near!(<policy = always> || 1);
    spawn_near!(<policy = "offload"> || 1);
    spawn_near!(<name = name> || 1);
    spawn_near!(<policy = inline, near = Near::of(3)> || 1);
    spawn_near!(<3> || 1);
}
