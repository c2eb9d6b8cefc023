use reattempt::retry;

#[retry(MAX = 3, on(_))]
fn upper_case() -> Result<u32, String> {
    Ok(1)
}

#[retry(stop_after_attempt = 3, max_elapsed = "1m", tries = 3)]
fn tenacity() -> Result<u32, String> {
    Ok(1)
}

#[retry(exponential, on_giveup = log, on_error = log, abort_on(_), ignore(_))]
fn others() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (upper_case(), tenacity(), others());
}
