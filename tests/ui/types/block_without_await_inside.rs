use std::io;

use reattempt::retry_block;

async fn fetch() -> io::Result<u32> {
    Ok(1)
}

async fn order() {
    let _ = retry_block!(async { fetch() }).await;
}

fn main() {
    drop(order());
}
