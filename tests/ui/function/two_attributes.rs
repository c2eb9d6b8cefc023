use reattempt::retry;

#[retry(max = 3, on(_))]
#[retry(deadline = "3s")]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[reattempt::retry(max = 3, on(_))]
#[reattempt::retry(deadline = "3s")]
async fn fetch_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (fetch(), fetch_later());
}
