use reattempt::retry;

#[retry(max = 3, on(_), clone(body))]
fn fetch(url: String, text: String) -> Result<String, String> {
    Ok(url + &text)
}

#[retry(max = 3, on(_), clone(body))]
fn fetch_nothing() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch(String::new(), String::new());
    let _ = fetch_nothing();
}
