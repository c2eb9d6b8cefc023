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
}

fn main() {
    let _ = Client(String::new()).fetch();
    let _ = Client(String::new()).fetch_later();
}
