use reattempt::retry;

#[retry(max = 5, base = "1s", jitter = "none", deadline = "4s", on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
