use reattempt::retry;

struct Client {
    is_fast: bool,
}

impl Client {
    #[retry(fast_first = self.is_fast, on(_))]
    fn fetch(&self) -> Result<(), ()> {
        Err(())
    }
}

fn main() {
    let _ = Client { is_fast: true }.fetch();
}
