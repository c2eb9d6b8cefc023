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

struct Other;

fn decide(_: &FailedAttempt<'_, String>) -> Decision {
    Decision::Stop
}

#[retry(on(_), strategy = Other)]
fn of_no_kind() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), strategy = &Other)]
async fn of_no_kind_later() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), strategy = Mine)]
fn of_another_error() -> Result<u32, u32> {
    Ok(1)
}

#[retry(on(_), strategy = decide)]
fn of_a_function() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), strategy = |_| Duration::ZERO)]
fn of_another_answer() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), strategy = |failure, _| Decision::Stop)]
fn of_two_parameters() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (of_no_kind(), of_no_kind_later(), of_another_error());
    let _ = (of_a_function(), of_another_answer(), of_two_parameters());
}
