use reattempt::retry;

#[retry(max = 1, retry_after = |_| None)]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
