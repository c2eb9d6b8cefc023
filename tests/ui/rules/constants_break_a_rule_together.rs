use reattempt::retry;

use std::time::Duration;

const BASE: Duration = Duration::from_secs(2);
const CAP: Duration = Duration::from_secs(1);

#[retry(base = BASE, cap = CAP, on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
