use reattempt::retry;

struct Client(Vec<u8>);

impl Client {
    #[retry(max = 3, on(_))]
    fn fetch(&mut self) -> Result<&mut [u8], String> {
        Ok(&mut self.0)
    }
}

fn main() {
    let _ = Client(Vec::new()).fetch();
}
