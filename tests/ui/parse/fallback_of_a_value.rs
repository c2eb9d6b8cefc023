use reattempt::retry;

#[retry(fallback = 3, on(_))]
fn literal() -> Result<u32, String> {
    Ok(1)
}

#[retry(fallback = 1 + 2, on(_))]
fn sum() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (literal(), sum());
}
