use reattempt::retry;

fn log(error: &String) {
    println!("{error}");
}

#[retry(on(_), on_retry = log)]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), on_retry = log)]
async fn fetch_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
    let _ = fetch_later();
}
