use locsteal::spawn_near;

fn work() {}

fn main() {
    spawn_near!();
    spawn_near!(<weight = 3>);
    spawn_near!({ work() });
    spawn_near!(work());
    spawn_near!(String::new().len());
    spawn_near!(work);
    spawn_near!(async { work() });
    spawn_near!(3);
    spawn_near!(|| work(), <weight = 3>);
    spawn_near!(|| work() || work(); work());
    spawn_near!(fn work() {});
}
