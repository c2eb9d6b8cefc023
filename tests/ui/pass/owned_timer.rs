use reattempt::retry;

use reattempt::timer::{Clock, Timestamp, Timer};

struct Mine;

impl Clock for Mine {
    fn now(&self) -> Timestamp {
        unimplemented!()
    }
}

impl Timer for Mine {
    type Sleep = std::future::Ready<()>;

    fn sleep(&self, _: std::time::Duration) -> Self::Sleep {
        std::future::ready(())
    }
}

#[retry(on(_), deadline = "3s", timer = timer)]
async fn fetch(timer: Mine) -> Option<u32> {
    None
}

fn main() {
    let _ = fetch(Mine);
}
