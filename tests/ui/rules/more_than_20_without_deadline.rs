use reattempt::retry;

#[retry(max = 21, backoff = "fixed", on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
