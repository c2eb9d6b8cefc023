use reattempt::{retry, retry_block};

#[retry(hedge = "50ms", on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = retry_block!(hedge = "50ms", on(_), || -> Result<u32, String> { Ok(1) });
}
