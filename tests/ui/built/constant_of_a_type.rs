use reattempt::retry;

struct Client;

impl Client {
    const MAX: u32 = 0;

    #[retry(max = Self::MAX, on(_))]
    fn fetch(&self) -> Result<u32, String> {
        Ok(1)
    }
}

fn main() {
    let _ = Client.fetch();
}
