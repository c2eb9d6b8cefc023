//! Polling, another policy for one call, `max` of the running program, a deadline over several calls.

use std::io::{self, ErrorKind};
use std::time::Duration;

use reattempt::{GiveUpReason, Policy, RetryError, deadline, retry, testing};

#[derive(Debug, PartialEq)]
enum Export {
    Running,
    Done(u32),
}

#[retry(until = |export| *export != Export::Running, max = 20, backoff = "fixed", base = "1s", jitter = 0.1)]
async fn exported(states: &mut Vec<Export>) -> Result<Export, RetryError<io::Error>> {
    Ok(states.pop().unwrap_or(Export::Running))
}

#[tokio::test(start_paused = true)]
async fn polling() {
    let mut states = vec![Export::Done(7), Export::Running, Export::Running];
    assert_eq!(exported(&mut states).await.unwrap(), Export::Done(7));
    let ended = exported(&mut Vec::new()).await.unwrap_err();
    assert_eq!(
        (ended.reason(), ended.attempts()),
        (GiveUpReason::Attempts, 20)
    );
}

#[derive(Clone)]
struct Client {
    name: &'static str,
    policy: Policy,
}

impl Client {
    fn with(&self, policy: Policy) -> Self {
        Self {
            policy,
            ..self.clone()
        }
    }

    #[retry(policy = self.policy, detail = self.name)]
    fn read(&self, calls: &mut u32) -> io::Result<u32> {
        *calls += 1;
        Err(ErrorKind::TimedOut.into())
    }
}

#[retry(policy = policy)]
async fn write(policy: Policy, calls: &mut u32) -> io::Result<u32> {
    *calls += 1;
    Err(ErrorKind::TimedOut.into())
}

#[tokio::test(start_paused = true)]
async fn another_policy_for_one_call() {
    let _time = testing::virtual_time();
    let client = Client {
        name: "shop",
        policy: Policy::new().max(5),
    };
    let mut calls = 0;
    assert!(client.read(&mut calls).is_err());
    assert!(client.with(Policy::new().max(2)).read(&mut calls).is_err());
    assert!(write(Policy::background(), &mut calls).await.is_err());
    assert!(write(client.policy.max(1), &mut calls).await.is_err());
    assert_eq!(calls, 5 + 2 + 10 + 1);
}

struct Settings {
    max: u32,
    timeout: Duration,
}

#[retry(max = settings.max, timeout = settings.timeout)]
async fn ask(settings: &Settings, calls: &mut u32) -> Result<u32, RetryError<io::Error>> {
    *calls += 1;
    Err(ErrorKind::TimedOut.into())
}

#[tokio::test(start_paused = true)]
async fn max_of_the_running_program() {
    for max in [1, 4] {
        let mut calls = 0;
        let settings = Settings {
            max,
            timeout: Duration::from_secs(1),
        };
        assert!(ask(&settings, &mut calls).await.is_err());
        assert_eq!(calls, max);
    }
}

#[retry(max = 10, base = "1s", jitter = "none")]
async fn step(steps: &mut Vec<&'static str>, name: &'static str) -> io::Result<()> {
    steps.push(name);
    Err(ErrorKind::TimedOut.into())
}

async fn checkout(steps: &mut Vec<&'static str>) -> io::Result<()> {
    let _ = step(steps, "price").await;
    step(steps, "payment").await
}

#[tokio::test(start_paused = true)]
async fn deadline_over_several_calls() {
    let start = tokio::time::Instant::now();
    let mut steps = Vec::new();
    let seconds = Duration::from_secs;
    assert!(
        deadline::within(seconds(5), checkout(&mut steps))
            .await
            .is_err()
    );
    assert_eq!(steps, ["price", "price", "price", "payment", "payment"]);
    assert!(start.elapsed() <= seconds(5));
}
