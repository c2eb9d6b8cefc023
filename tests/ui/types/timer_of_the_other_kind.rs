use reattempt::retry;

use reattempt::timer::{ThreadTimer, Tokio};

#[retry(on(_), timer = Tokio)]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), timer = ThreadTimer)]
async fn fetch_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (fetch(), fetch_later());
}
