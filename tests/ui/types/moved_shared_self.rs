use std::sync::Arc;
use std::thread;

use reattempt::retry;

struct Client(u32);

impl Client {
    #[retry(max = 3, on(_))]
    fn fetch(self: Arc<Self>) -> Result<u32, String> {
        let work = thread::spawn(move || self.0);
        work.join().map_err(|_| "gone".to_owned())
    }

    fn work(&self) -> u32 {
        self.0
    }

    #[retry(max = 3, on(_))]
    async fn fetch_later(self: Arc<Self>) -> Result<u32, String> {
        let work = thread::spawn(move || self.work());
        work.join().map_err(|_| "gone".to_owned())
    }

    #[retry(max = 3, on(_))]
    async fn give(self: Arc<Self>) -> Result<Arc<Self>, String> {
        Ok(self)
    }
}

fn main() {
    let client = Arc::new(Client(1));
    let _ = Arc::clone(&client).fetch();
    let _ = (Arc::clone(&client).fetch_later(), client.give());
}
