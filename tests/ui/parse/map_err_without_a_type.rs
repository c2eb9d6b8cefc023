use reattempt::retry;

#[retry(map_err = |error| error.to_string(), on(_))]
fn untyped() -> Result<u32, String> {
    Ok(1)
}

#[retry(map_err = || String::new(), on(_))]
fn without_a_parameter() -> Result<u32, String> {
    Ok(1)
}

#[retry(map_err = |error: reattempt::RetryError<String>, attempt| error.to_string(), on(_))]
fn with_two() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (untyped(), without_a_parameter(), with_two());
}
