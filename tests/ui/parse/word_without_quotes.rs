use reattempt::retry;

#[retry(backoff = exp, on(_))]
fn backoff() -> Result<u32, String> {
    Ok(1)
}

#[retry(jitter = full, nested = multiply, on(_))]
fn jitter() -> Result<u32, String> {
    Ok(1)
}

#[retry(max = unlimited, deadline = "1m", on(_))]
fn unlimited() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (backoff(), jitter(), unlimited());
}
