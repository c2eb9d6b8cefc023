use std::io::Error;

use reattempt::{Policy, retry};

struct Settings {
    retry: Option<Policy>,
}

impl Settings {
    #[retry(policy = self.retry)]
    fn fetch(&self) -> Result<u32, Error> {
        Ok(1)
    }

    #[retry(policy = self)]
    fn fetch_of_all(&self) -> Result<u32, Error> {
        Ok(1)
    }
}

fn main() {
    let settings = Settings { retry: None };
    let _ = settings.fetch();
    let _ = settings.fetch_of_all();
}
