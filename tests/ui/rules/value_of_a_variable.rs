use reattempt::retry;

#[retry(max = attempts, on(_))]
fn fetch(attempts: u32) -> Result<u32, String> {
    Ok(attempts)
}

fn main() {
    let _ = fetch(3);
}
