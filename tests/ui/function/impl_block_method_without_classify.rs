use reattempt::retry;

struct Client;

#[retry(max = 3)]
impl Client {
    fn fetch(&self) -> Result<u32, String> {
        Ok(1)
    }
}

fn main() {
    let _ = Client.fetch();
}
