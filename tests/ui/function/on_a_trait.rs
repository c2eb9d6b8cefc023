use reattempt::retry;

#[retry(max = 3)]
trait Fetch {
    fn fetch(&self) -> Result<u32, String> {
        Ok(1)
    }
}

struct Client;

impl Fetch for Client {}

fn main() {
    let _ = Client.fetch();
}
