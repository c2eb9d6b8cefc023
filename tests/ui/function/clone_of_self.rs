use reattempt::retry;

#[derive(Clone)]
struct Client;

impl Client {
    #[retry(max = 3, on(_), clone(self))]
    fn fetch(self) -> Result<Self, String> {
        Ok(self)
    }
}

fn main() {
    let _ = Client.fetch();
}
