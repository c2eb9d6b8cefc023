use reattempt::retry;

#[retry(backoff = "quadratic", on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
