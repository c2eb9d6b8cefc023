//! The fix keeps what is cloned already.

use reattempt::retry;

fn send(_: String, _: String) -> Result<(), String> {
    Ok(())
}

#[retry(max = 3, on(_), clone(url))]
fn fetch(url: String, body: String) -> Result<(), String> {
    send(url, body)
}

fn main() {
    let _ = fetch(String::new(), String::new());
}
