use reattempt::retry;

struct Client;

#[retry(max = 0, on(_))]
impl Client {
    fn fetch(&self) -> Result<u32, String> {
        Ok(1)
    }

    async fn store(&mut self) -> Result<u32, String> {
        Ok(1)
    }
}

fn main() {
    let _ = Client.fetch();
    let _ = Client.store();
}
