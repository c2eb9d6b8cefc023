//! A method of an `Arc<Self>`: with a copy for each attempt, and where it is only read.

use std::sync::Arc;
use std::thread;

use reattempt::retry;

struct Client(u32);

impl Client {
    fn work(&self) -> u32 {
        self.0
    }

    #[retry(max = 3, on(_), clone(self))]
    fn fetch(self: Arc<Self>) -> Result<u32, String> {
        let work = thread::spawn(move || self.work());
        work.join().map_err(|_| "gone".to_owned())
    }

    #[retry(max = 3, on(_))]
    fn read(self: Arc<Self>) -> Result<u32, String> {
        let shared = Arc::clone(&self);
        Ok(self.work() + self.0 + shared.0)
    }

    #[retry(max = 3, on(_))]
    async fn read_later(self: Arc<Self>) -> Result<u32, String> {
        let number = self.0;
        Ok([1].map(|it| it + self.work())[0] + number)
    }
}

fn main() {
    let client = Arc::new(Client(1));
    assert_eq!(Arc::clone(&client).fetch(), Ok(1));
    assert_eq!(Arc::clone(&client).read(), Ok(3));
    drop(client.read_later());
}
