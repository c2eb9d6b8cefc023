use reattempt::retry;

#[retry(max = 3, on(_))]
async fn fetch(url: String) -> Result<Vec<u8>, String> {
    Ok(url.into_bytes())
}

fn main() {
    let _ = fetch(String::new());
}
