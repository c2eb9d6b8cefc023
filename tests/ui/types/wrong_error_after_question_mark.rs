use reattempt::retry;

#[retry(max = 3, on(_))]
fn fetch() -> Result<u32, String> {
    let number: u32 = "1".parse()?;
    Ok(number)
}

#[retry(max = 3, on(_))]
async fn fetch_later() -> Result<u32, String> {
    let number: u32 = "1".parse()?;
    Ok(number)
}

fn main() {
    let _ = (fetch(), fetch_later());
}
