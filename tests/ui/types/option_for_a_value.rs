use std::time::Duration;

use reattempt::retry;

struct Client {
    attempts: Option<u32>,
    limit: Option<Duration>,
}

impl Client {
    #[retry(max = self.attempts, deadline = self.limit, on(_))]
    fn fetch(&self) -> Result<u32, String> {
        Ok(1)
    }
}

fn main() {
    let (attempts, limit) = (None, None);
    let _ = Client { attempts, limit }.fetch();
}
