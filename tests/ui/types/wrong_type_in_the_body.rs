use reattempt::retry;

#[retry(max = 3, on(_))]
fn fetch() -> Result<u32, String> {
    Ok("1")
}

#[retry(max = 3, on(_))]
async fn fetch_later() -> Result<u32, String> {
    Ok("1")
}

fn main() {
    let _ = (fetch(), fetch_later());
}
