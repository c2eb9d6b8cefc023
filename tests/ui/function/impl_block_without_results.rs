use reattempt::retry;

struct Client;

#[retry(max = 3, on(_))]
impl Client {
    fn fetch(&self) -> u32 {
        1
    }
}

fn main() {
    let _ = Client.fetch();
}
