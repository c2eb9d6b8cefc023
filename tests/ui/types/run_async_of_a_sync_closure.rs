use reattempt::{GaveUp, Policy, RetryError};

fn fetch() -> Result<u32, GaveUp> {
    Ok(1)
}

async fn run_async() {
    let _ = Policy::new().run_async(|| fetch());
}

async fn try_run_async() -> Result<u32, RetryError<GaveUp>> {
    let answer = Policy::new().runner().try_run_async(fetch);
    answer.await
}

fn main() {
    let _ = (run_async(), try_run_async());
}
