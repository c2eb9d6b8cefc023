//! `history`: the total time, and the errors of all attempts.

use std::cell::Cell;
use std::future::pending;

use reattempt::{
    Backoff, Breaker, GaveUp, GiveUpReason, Jitter, Policy, RetryError, retry, retry_block,
};

use crate::support::{Hand, drive, ms};

type Answer = Result<u32, RetryError<u32>>;

/// Fails with the number of the attempt, which takes 5 ms.
#[derive(Default)]
struct Service {
    hand: Hand,
    attempts: Cell<u32>,
}

impl Service {
    fn call(&self) -> Result<u32, u32> {
        self.hand.spend(ms(5));
        self.attempts.set(self.attempts.get() + 1);
        Err(self.attempts.get())
    }

    /// As the first attempt hangs, it has no error.
    async fn hang_once(&self) -> Result<u32, u32> {
        match self.call() {
            Err(1) => pending().await,
            answer => answer,
        }
    }
}

#[track_caller]
fn assert_history(error: &RetryError<u32>, millis: u64, errors: &[u32]) {
    assert_eq!(error.total_time(), Some(ms(millis)));
    assert!(error.errors().eq(errors), "{error:?}");
}

#[retry(max = 3, base = "10ms", backoff = "fixed", jitter = 0.0, on(_), history, timer = &service.hand)]
fn plain(service: &Service) -> Answer {
    service.call()
}

#[retry(max = 3, base = "10ms", backoff = "fixed", jitter = 0.0, on(_), history, timer = &service.hand)]
async fn plain_async(service: &Service) -> Answer {
    service.call()
}

#[retry(max = 3, base = "10ms", backoff = "fixed", jitter = 0.0, on(_), history, on_retry = || {}, before_retry = |retry| assert!(retry.error().is_some()), timer = &service.hand)]
async fn hooked(service: &Service) -> Answer {
    service.call()
}

#[retry(max = 3, base = "10ms", backoff = "fixed", jitter = 0.0, on(_), history, until = |_| true, timer = &service.hand)]
fn polled(service: &Service) -> Answer {
    service.call()
}

const POLICY: Policy = Policy::new()
    .max(3)
    .base(ms(10))
    .backoff(Backoff::Fixed)
    .jitter(Jitter::None);

static BREAKER: Breaker = Breaker::count_window(100);

#[retry(max = 3, base = "10ms", backoff = "fixed", jitter = 0.0, on(_), history, breaker = &BREAKER, timer = &service.hand)]
fn gated(service: &Service) -> Answer {
    service.call()
}

fn block(service: &Service) -> Answer {
    retry_block!(
        max = 3,
        base = "10ms",
        backoff = "fixed",
        jitter = 0.0,
        on(_),
        history,
        timer = &service.hand,
        || -> Answer { service.call() }
    )
}

#[retry(max = 3, base = "10ms", backoff = "fixed", jitter = 0.0, on(_), history, timer = &service.hand, map_err = |error: RetryError<u32>| (error.total_time(), error.errors().copied().collect()))]
fn mapped(service: &Service) -> Result<u32, (Option<std::time::Duration>, Vec<u32>)> {
    service.call()
}

#[test]
fn every_form_has_it() {
    let sync = [plain, polled, gated, block].map(|call| call(&Service::default()));
    let service = Service::default();
    let other = Service::default();
    let both = [drive(plain_async(&service)), drive(hooked(&other))];
    for answer in sync.into_iter().chain(both) {
        assert_history(&answer.unwrap_err(), 35, &[1, 2, 3]);
    }
    let service = Service::default();
    let error = (POLICY
        .on(|_: &u32| true)
        .timer(service.hand.clone())
        .history())
    .try_run(|| service.call());
    assert_history(&error.unwrap_err(), 35, &[1, 2, 3]);
    let service = Service::default();
    let policy = POLICY.timeout(ms(20));
    let runner = policy.on(|_: &u32| true).timer(service.hand.clone());
    let error = drive(runner.history().try_run_async(|| service.hang_once()));
    assert_history(&error.unwrap_err(), 50, &[2, 3]);
    let mapped = mapped(&Service::default()).unwrap_err();
    assert_eq!(mapped, (Some(ms(35)), vec![1, 2, 3]));
}

#[test]
fn an_attempt_without_an_error_is_left_out() {
    #[retry(max = 3, base = "10ms", backoff = "fixed", jitter = 0.0, on(_), history, timeout = "20ms", timer = &service.hand)]
    async fn limited(service: &Service) -> Answer {
        service.hang_once().await
    }
    #[retry(max = 3, base = "10ms", backoff = "fixed", jitter = 0.0, on(_), history, timeout = "20ms", until = |_| true, timer = &service.hand)]
    async fn limited_and_polled(service: &Service) -> Answer {
        service.hang_once().await
    }
    let service = Service::default();
    assert_history(&drive(limited(&service)).unwrap_err(), 50, &[2, 3]);
    let service = Service::default();
    assert_history(
        &drive(limited_and_polled(&service)).unwrap_err(),
        50,
        &[2, 3],
    );
}

#[test]
fn a_success_is_as_it_is_without() {
    #[retry(max = 3, base = "1ms", on(_), history)]
    fn succeeds(first: &Cell<bool>) -> Answer {
        if first.replace(false) { Err(0) } else { Ok(7) }
    }
    assert_eq!(succeeds(&Cell::new(true)), Ok(7));
}

#[test]
fn without_the_key_there_is_the_last_error_alone() {
    #[retry(max = 3, base = "10ms", on(_), history = false, timer = &service.hand)]
    fn without(service: &Service) -> Answer {
        service.call()
    }
    let error = without(&Service::default()).unwrap_err();
    assert_eq!(error.total_time(), None);
    assert!(error.errors().eq(&[3]));
}

#[test]
fn two_layers_are_joined() {
    #[retry(max = 2, base = "10ms", backoff = "fixed", jitter = 0.0, on(_), history, timer = &service.hand, map_err = RetryError::flatten)]
    fn outer(service: &Service) -> Answer {
        let end = GaveUp::new(GiveUpReason::Attempts, 1);
        (service.call()).map_err(|error| RetryError::new(end, Some(error)))
    }
    assert_history(&outer(&Service::default()).unwrap_err(), 20, &[1, 2]);
}
