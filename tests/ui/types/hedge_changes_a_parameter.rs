use reattempt::retry;

struct Service {
    calls: u32,
}

impl Service {
    #[retry(hedge = "50ms", on(_))]
    async fn fetch(&mut self) -> Result<u32, String> {
        self.calls += 1;
        Ok(self.calls)
    }
}

fn main() {
    let _ = Service { calls: 0 }.fetch();
}
