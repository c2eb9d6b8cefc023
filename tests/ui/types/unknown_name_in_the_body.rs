use reattempt::retry;

#[retry(max = 3, on(_))]
fn fetch() -> Result<u32, String> {
    Ok(outcome + call)
}

#[retry(max = 3, on(_))]
async fn fetch_later() -> Result<u32, String> {
    Ok(outcome + delay)
}

fn main() {
    let _ = (fetch(), fetch_later());
}
