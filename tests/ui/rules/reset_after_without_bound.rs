use reattempt::retry;

#[retry(max = 5, backoff = "fixed", reset_after = "1m", on(_))]
fn endless() -> Result<u32, String> {
    Ok(1)
}

#[retry(max = 3, reset_after = "1m", backoff = "none", deadline = "24h", on(_))]
fn hammers() -> Result<u32, String> {
    Ok(1)
}

#[retry(max = 1, reset_after = "1m", deadline = "24h")]
fn once() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (endless(), hammers(), once());
}
