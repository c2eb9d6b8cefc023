//! What the messages about words of other libraries name does compile.

use std::time::Duration;

use reattempt::{Breaker, Budget, Policy, Throttle, retry, retry_block};

static BREAKER: Breaker = Breaker::count_window(20).failure_ratio(0.5);
static THROTTLE: Throttle = reattempt::Throttle::rate(10, Duration::from_secs(1));
static BUDGET: Budget = reattempt::Budget::per_success(0.1);
const CODES: reattempt::policy::Codes =
    reattempt::policy::Codes::new(&[reattempt::policy::OnCode::throttled("503")]);
const BASE: Duration = std::time::Duration::from_millis(5);

type Answer = std::io::Result<u32>;

#[retry(never)]
fn off() -> Answer {
    Ok(1)
}

#[retry(on(_), max = "unlimited")]
fn always() -> Answer {
    Ok(1)
}

#[retry(policy = reattempt::Policy::interactive())]
fn interactive() -> Answer {
    Ok(1)
}

#[retry(policy = reattempt::Policy::background(), max = 4)]
fn background() -> Answer {
    Ok(1)
}

#[retry(breaker = &BREAKER, throttle = &THROTTLE, budget = &BUDGET, map_err = |error: reattempt::RetryError<std::io::Error>| std::io::Error::other(error))]
fn limited() -> Answer {
    Ok(1)
}

#[retry(on_retry = |retry| eprintln!("{retry}"))]
fn shown() -> Answer {
    Ok(1)
}

#[retry(codes = CODES, base = BASE)]
fn coded() -> Answer {
    Ok(1)
}

#[retry(on = is_transient, fallback = cached)]
fn named() -> Answer {
    Ok(1)
}

fn is_transient(_: &std::io::Error) -> bool {
    true
}

fn cached(_: std::io::Error) -> u32 {
    1
}

#[retry(fallback = |_| "cached")]
fn text() -> std::io::Result<&'static str> {
    Ok("")
}

#[retry(detail = format_args!("get {id}"))]
fn detailed(id: u32) -> Answer {
    Ok(id)
}

struct Client {
    host: String,
}

impl Client {
    #[retry(detail = format_args!("get {id:?} of {}", self.host))]
    fn detailed(&self, id: u32) -> Answer {
        Ok(id)
    }
}

// The route of all calls.
#[retry(name = "/users/{id}")]
fn routed(id: u32) -> Answer {
    Ok(id)
}

#[retry(max = 3, base = "1s")]
fn json() -> Answer {
    Ok(1)
}

fn block() -> std::io::Result<String> {
    retry_block!(max = 3, base = "1s", { Ok::<_, std::io::Error>(String::new()) })
}

fn runners(policy: Policy) -> Answer {
    let fetch = || Answer::Ok(1);
    policy.runner().name("fetch").run(fetch)?;
    policy.on(|error: &std::io::Error| !is_transient(error)).run(fetch)?;
    policy.on(|_: &std::io::Error| reattempt::Verdict::TransientAfter(BASE)).run(fetch)?;
    policy.runner().on_retry(|retry| eprintln!("{retry}")).run(fetch)?;
    policy.run(fetch).or_else(|error| Err(error))?;
    let _ = policy.run(fetch).map_err(|error| error.to_string());
    let _: Answer = reattempt::retry_block!(policy = policy, until = |value| *value > 0, { fetch() });
    assert_eq!((1..).map(|retry| policy.delay(retry)).take(3).count(), 3);
    fetch()
}

const POLICIES: [Policy; 6] = [
    Policy::new().base(BASE).factor(3.0).cap(Duration::from_secs(1)),
    Policy::new().backoff(reattempt::Backoff::Fixed).base(BASE),
    Policy::new().backoff(reattempt::Backoff::Linear).base(BASE),
    Policy::new().backoff(reattempt::Backoff::None).max(1),
    Policy::new().jitter(reattempt::Jitter::Equal).without_budget(),
    Policy::new().jitter(reattempt::Jitter::Ratio(0.5)).unlimited(),
];

fn main() {
    let host = String::new();
    for answer in [
        off(),
        always(),
        interactive(),
        background(),
        limited(),
        shown(),
        coded(),
        named(),
        detailed(1),
        Client { host }.detailed(1),
        routed(1),
        json(),
        runners(POLICIES[0]),
    ] {
        assert_eq!(answer.ok(), Some(1));
    }
    let _ = (text(), block());
}
