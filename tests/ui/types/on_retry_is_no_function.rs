use reattempt::retry;

const LINE: &str = "log it";

#[retry(on(_), on_retry = LINE)]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), on_retry = LINE)]
async fn fetch_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = fetch_later();
}
