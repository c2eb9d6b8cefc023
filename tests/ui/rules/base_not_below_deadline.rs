use reattempt::retry;

#[retry(base = "5s", jitter = "none", deadline = "5s", on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
