use locsteal::spawn_near;

fn main() {
    // What lives inside of the scope may be gone before the job is.
    locsteal::scope(|s| {
        let inside = vec![1, 2, 3];
        spawn_near!(<scope = s> || inside.len());
    });
    // Two jobs cannot have the same thing to themselves.
    let mut parts = vec![1, 2, 3];
    locsteal::scope(|s| {
        spawn_near!(<scope = s> || parts.push(4));
        spawn_near!(<scope = s> || parts.push(5));
    });
    // What a job gives back may not outlive what it borrows.
    let escaped = {
        let outside = vec![1, 2, 3];
        locsteal::scope(|s| spawn_near!(<scope = s> || &outside[0]))
    };
    escaped.join();
}
