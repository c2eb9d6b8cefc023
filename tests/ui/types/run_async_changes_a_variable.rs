use reattempt::{GaveUp, Policy, RetryError};

async fn fetch(calls: &mut u32) -> Result<u32, GaveUp> {
    *calls += 1;
    Ok(*calls)
}

async fn run_async(calls: &mut u32) -> Result<u32, GaveUp> {
    Policy::new().run_async(async || fetch(calls).await).await
}

async fn try_run_async() -> Result<u32, RetryError<GaveUp>> {
    let mut calls = 0;
    let runner = Policy::new().runner();
    let answer = runner.try_run_async(async || {
        calls += 1;
        Ok(calls)
    });
    answer.await
}

fn main() {
    let _ = (run_async(&mut 0), try_run_async());
}
