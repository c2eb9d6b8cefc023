use std::time::Duration;

use reattempt::retry;

const SOON: Duration = Duration::from_secs(9);

#[retry(reset_after = SOON, cap = "1s", deadline = "24h", on(_))]
fn soon() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = soon();
}
