use std::future::ready;

use locsteal::spawn_near;

fn main() {
    spawn_near!(async || 1);
    spawn_near!(async move || ready(1).await);
    spawn_near!(|| ready(1).await);
    spawn_near!(|| {
        let later = async { ready(1).await };
        let also = async || ready(1).await;
        drop((later, also));
        ready(1).await
    });
}
