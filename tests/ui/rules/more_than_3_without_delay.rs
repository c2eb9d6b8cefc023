use reattempt::retry;

#[retry(max = 4, backoff = "none", on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
