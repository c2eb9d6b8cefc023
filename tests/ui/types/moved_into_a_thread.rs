use reattempt::retry;

#[retry(max = 3, on(_))]
fn fetch(url: String) -> Result<usize, String> {
    std::thread::spawn(move || url.len()).join().map_err(|_| String::new())
}

#[retry(max = 3, on(_))]
async fn fetch_later(url: String) -> Result<usize, String> {
    tokio::spawn(async move { url.len() }).await.map_err(|_| String::new())
}

fn main() {
    let _ = fetch(String::new());
    let _ = fetch_later(String::new());
}
