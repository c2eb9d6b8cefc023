use reattempt::retry;

#[retry(backoff = exponential, on(_))]
fn exponential() -> Result<u32, String> {
    Ok(1)
}

#[retry(backoff = constant, on(_))]
fn constant() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (exponential(), constant());
}
