use reattempt::retry;

use reattempt::timer::{Threads, Tokio};

#[retry(on(_), timer = Tokio)]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), timer = Threads)]
async fn fetch_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (fetch(), fetch_later());
}
