use reattempt::retry;

#[retry(until = 5, on(_))]
fn until() -> Result<u32, String> {
    Ok(1)
}

#[retry(timer = 5, on(_))]
fn timer() -> Result<u32, String> {
    Ok(1)
}

#[retry(policy = 5, on(_))]
fn policy() -> Result<u32, String> {
    Ok(1)
}

#[retry(before_retry = 5, on_retry = "log", verify = true, idempotent = false, on = true)]
fn hooks() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (until(), timer(), policy(), hooks());
}
