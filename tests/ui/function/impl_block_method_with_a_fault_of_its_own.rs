use reattempt::retry;

struct Client;

#[retry(max = 3, on(_))]
impl Client {
    #[retry(max = 0, on(_))]
    fn fetch(&self) -> Result<u32, String> {
        Ok(1)
    }
}

fn main() {
    let _ = Client.fetch();
}
