//! All of them are reported at once.

use reattempt::retry;

#[retry(maks = 3, base = "250", jitter = 1.5, backoff = "exponential", on(), clone(text), name = "a b")]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
