use reattempt::retry;

#[retry(on(_), strategy = async |_| reattempt::strategy::Decision::Stop)]
async fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), strategy = |_| async { reattempt::strategy::Decision::Stop })]
fn fetch_in_line() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (fetch(), fetch_in_line());
}
