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

#[retry(on(_), backoff = "fixed", strategy = Mine)]
fn backoff() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), base = "1s", strategy = Mine)]
fn base() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), first = "1s", strategy = Mine)]
fn first() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), factor = 3.0, strategy = Mine)]
fn factor() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), cap = "1s", strategy = Mine)]
fn cap() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), jitter = 0.2, strategy = Mine)]
fn jitter() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), fast_first, strategy = Mine)]
fn fast_first() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), strategy = |_| Decision::Stop, backoff = SHAPE, cap = LONGEST)]
async fn constants() -> Result<u32, String> {
    Ok(1)
}

const SHAPE: reattempt::Backoff = reattempt::Backoff::Fixed;
const LONGEST: Duration = Duration::from_secs(1);

fn main() {
    let _ = (backoff(), base(), first(), factor(), cap(), jitter(), fast_first());
    let _ = constants();
}
