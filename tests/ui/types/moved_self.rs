use reattempt::retry;

struct Client(String);

impl Client {
    #[retry(max = 3, on(_))]
    fn fetch(self) -> Result<String, String> {
        Ok(self.0)
    }

    #[retry(max = 3, on(_))]
    async fn fetch_later(self) -> Result<String, String> {
        Ok(self.0)
    }

    // A part of it, in a block that names no more.
    #[retry(max = 3, on(_))]
    fn fetch_in_a_block(self) -> impl Future<Output = Result<String, String>> {
        async move { send(self.0).await }
    }
}

async fn send(url: String) -> Result<String, String> {
    Ok(url)
}

fn main() {
    let _ = Client(String::new()).fetch();
    let _ = Client(String::new()).fetch_later();
    let _ = Client(String::new()).fetch_in_a_block();
}
