use reattempt::retry;

#[retry(max = 3, on(_), clone())]
fn fetch(url: String) -> Result<String, String> {
    Ok(url)
}

fn main() {
    let _ = fetch(String::new());
}
