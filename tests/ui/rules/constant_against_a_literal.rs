use reattempt::retry;

const MAX: u32 = 4;

#[retry(max = MAX, backoff = "none", on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
