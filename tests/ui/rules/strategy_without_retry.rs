use std::time::Duration;

use reattempt::{strategy::Decision, strategy::FailedAttempt, Strategy, retry};

struct Mine;

impl Strategy<String> for Mine {
    type State = ();

    fn start(&self) {}

    fn failed(&self, (): &mut (), _: &FailedAttempt<'_, String>) -> Decision {
        Decision::Retry(Duration::from_secs(1))
    }
}

#[retry(max = 1, strategy = Mine)]
fn fetch() -> Option<u32> {
    Some(1)
}

fn main() {
    let _ = fetch();
}
