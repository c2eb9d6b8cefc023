use reattempt::retry;

#[retry(base = "1 sec", on(_))]
fn word() -> Result<u32, String> {
    Ok(1)
}

#[retry(base = "100 MS", on(_))]
fn upper_case() -> Result<u32, String> {
    Ok(1)
}

#[retry(deadline = "1d", on(_))]
fn day() -> Result<u32, String> {
    Ok(1)
}

#[retry(deadline = "1 minute, 30 seconds", on(_))]
fn two_parts() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (word(), upper_case(), day(), two_parts());
}
