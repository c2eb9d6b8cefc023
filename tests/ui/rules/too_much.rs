use reattempt::retry;

#[retry(max = "unlimited", backoff = "fixed", base = "1ms", jitter = "none", deadline = "24h", on(_))]
fn each_millisecond() -> Result<u32, String> {
    Ok(1)
}

#[retry(max = 200, base = "9ms", cap = "9ms", deadline = "1m", on(_))]
fn in_a_second() -> Result<u32, String> {
    Ok(1)
}

#[retry(max = 10_001, on(_))]
fn in_all() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (each_millisecond(), in_a_second(), in_all());
}
