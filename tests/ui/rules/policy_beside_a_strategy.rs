use std::time::Duration;

use reattempt::{strategy::Decision, strategy::FailedAttempt, Policy, Strategy, retry};

struct Mine;

impl Strategy<String> for Mine {
    type State = ();

    fn start(&self) {}

    fn failed(&self, (): &mut (), _: &FailedAttempt<'_, String>) -> Decision {
        Decision::Retry(Duration::from_secs(1))
    }
}

const STORAGE: Policy = Policy::new().max(5);

#[retry(on(_), policy = STORAGE, strategy = Mine)]
fn constant() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), strategy = Mine, policy = policy, base = "1s")]
async fn of_the_call(policy: Policy) -> Result<u32, String> {
    Ok(policy.attempts().unwrap_or(1))
}

fn main() {
    let _ = (constant(), of_the_call(STORAGE));
}
