use reattempt::retry;

#[retry(max = 3, on(_), clone(body))]
fn fetch(url: String, text: String) -> Result<String, String> {
    Ok(url + &text)
}

#[retry(max = 3, on(_), clone(body))]
fn fetch_nothing() -> Result<u32, String> {
    Ok(1)
}

#[async_trait::async_trait]
trait Pages {
    async fn read(self, text: String) -> Result<u32, String>;
}

#[async_trait::async_trait]
impl Pages for String {
    #[retry(max = 3, on(_), clone(body))]
    async fn read(self, text: String) -> Result<u32, String> {
        Err(self + &text)
    }
}

fn main() {
    let _ = fetch(String::new(), String::new());
    let _ = fetch_nothing();
}
