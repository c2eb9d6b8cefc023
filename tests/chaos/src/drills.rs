//! What the storm leaves to chance, once more step by step: what a dropped call held is there again at once.

use std::future::pending;
use std::time::Duration;

use reattempt::overload::breaker::State;
use reattempt::{Breaker, Budget, Jitter, Keyed, Policy, RetryError, Throttle, Verdict, retry};
use tokio::time::{sleep, timeout};

use crate::calls::Wrong;

type Answer = Result<(), RetryError<Wrong>>;

/// No call of it is here long enough to see its retry: with jitter, one in a thousand was.
const PATIENT: Policy = Policy::new()
    .max(2)
    .base(Duration::from_secs(20))
    .jitter(Jitter::None);
const ONCE: Policy = Policy::new().max(1);
const MOMENT: Duration = Duration::from_millis(5);

/// How the body of a call ends.
#[derive(Debug, Clone, Copy)]
enum Body {
    Well,
    Fails(Verdict),
    Never,
}

impl Body {
    async fn run(self) -> Result<(), Wrong> {
        match self {
            Self::Well => Ok(()),
            Self::Fails(verdict) => Err(Wrong::new(verdict, "as planned")),
            Self::Never => pending().await,
        }
    }
}

static BREAKERS: Keyed<u32, Breaker> = Keyed::new(|key| {
    let probes = key % 3 + 1;
    Breaker::count_window(1)
        .probes(probes)
        .cooldown(Duration::from_millis(120))
});

#[retry(policy = ONCE, breaker = BREAKERS.get(&key))]
async fn guarded(key: u32, body: Body) -> Result<(), RetryError<Wrong>> {
    body.run().await
}

async fn runner(key: u32, body: Body) -> Answer {
    let breaker = BREAKERS.get(&key);
    ONCE.runner()
        .breaker(&breaker)
        .try_run_async(|| body.run())
        .await
}

async fn call(key: u32, body: Body) -> Answer {
    if key.is_multiple_of(2) {
        guarded(key, body).await
    } else {
        runner(key, body).await
    }
}

static PURSE: Budget = Budget::per_success(0.1).initial(3).floor(0.0);

#[retry(policy = PATIENT, budget = &PURSE)]
async fn paid(body: Body) -> Result<(), RetryError<Wrong>> {
    body.run().await
}

static THROTTLE: Throttle = Throttle::cubic();

#[retry(policy = ONCE, throttle = &THROTTLE)]
async fn throttled(body: Body) -> Result<(), RetryError<Wrong>> {
    body.run().await
}

/// What was not as it has to be.
pub(crate) async fn all() -> Vec<String> {
    let mut wrong = Vec::new();
    let breakers: Vec<_> = (0..24).map(|key| tokio::spawn(probes(key))).collect();
    for breaker in breakers {
        wrong.extend(breaker.await.unwrap());
    }
    wrong.extend(payments().await);
    wrong.extend(tokens().await);
    wrong
}

/// Half-open, with a probe that is dropped, and one that says nothing about the service: the next call is a probe.
async fn probes(key: u32) -> Option<String> {
    let refused = Body::Fails(Verdict::Transient);
    let _ = call(key, refused).await;
    let breaker = BREAKERS.get(&key);
    if breaker.state() != State::Open {
        return Some(format!(
            "drill of breaker {key}: it is {:?} after a failure",
            breaker.state()
        ));
    }
    while breaker.state() == State::Open {
        sleep(MOMENT).await;
    }
    for body in [Body::Never, Body::Fails(Verdict::Permanent), Body::Never] {
        let _ = timeout(MOMENT, call(key, body)).await;
    }
    for probe in 0..=key % 3 {
        if let Err(failed) = call(key, Body::Well).await {
            return Some(format!(
                "drill of breaker {key}: probe {probe} after dropped ones was refused, {:?}",
                failed.reason()
            ));
        }
    }
    (breaker.state() != State::Closed).then(|| {
        format!(
            "drill of breaker {key}: it is {:?} after its probes",
            breaker.state()
        )
    })
}

/// Dropped before their retry, so nothing is paid.
async fn payments() -> Option<String> {
    let before = PURSE.balance();
    for _ in 0..10 {
        let _ = timeout(MOMENT, paid(Body::Fails(Verdict::Transient))).await;
    }
    let after = PURSE.balance();
    ((after - before).abs() > 0.001).then(|| {
        format!("drill of the budget: {before} tokens before dropped calls, {after} after")
    })
}

/// Who waits for a throttle and goes away leaves its place to the next.
async fn tokens() -> Option<String> {
    for _ in 0..20 {
        let _ = throttled(Body::Well).await;
    }
    let _ = throttled(Body::Fails(Verdict::Throttled(None))).await;
    for _ in 0..50 {
        let _ = timeout(Duration::from_micros(100), throttled(Body::Never)).await;
    }
    // Half a call a second is the least there is.
    let last = timeout(Duration::from_secs(4), throttled(Body::Well)).await;
    let rate = THROTTLE.fill_rate();
    last.is_err()
        .then(|| format!("drill of the throttle: no turn within 4 s at {rate:?} a second"))
}
