use reattempt::retry;

struct Client {
    seconds: u64,
}

impl Client {
    #[retry(base = self.seconds, on(_))]
    fn fetch(&self) -> Result<(), ()> {
        Err(())
    }
}

fn main() {
    let _ = Client { seconds: 2 }.fetch();
}
