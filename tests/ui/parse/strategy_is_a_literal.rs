use reattempt::retry;

#[retry(on(_), strategy = "exponential")]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), strategy)]
fn alone() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (fetch(), alone());
}
