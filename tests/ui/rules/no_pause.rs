use reattempt::retry;

#[retry(max = "unlimited", base = "100us", deadline = "1h", on(_))]
fn unlimited() -> Result<u32, u8> {
    Ok(1)
}

#[retry(max = 20, base = "100ns", on(_))]
fn twenty() -> Result<u32, u8> {
    Ok(1)
}

#[retry(cap = "50ms", on(_))]
fn below_the_default() -> Result<u32, u8> {
    Ok(1)
}

#[retry(jitter = "none", deadline = "100ms", on(_))]
fn as_long_as_the_default() -> Result<u32, u8> {
    Ok(1)
}

fn main() {
    let _ = (unlimited(), twenty(), below_the_default(), as_long_as_the_default());
}
