use reattempt::retry;

trait Fetch {
    #[retry(max = 3, on(_))]
    fn fetch(&self) -> Result<u32, String>;
}

struct Client;

impl Fetch for Client {
    fn fetch(&self) -> Result<u32, String> {
        Ok(1)
    }
}

fn main() {
    let _ = Client.fetch();
}
