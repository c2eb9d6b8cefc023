//! Hooks of a runner, as people write them first: without a type.

use std::cell::RefCell;
use std::io::{Error, ErrorKind};
use std::time::Duration;

use reattempt::testing::virtual_time;
use reattempt::{Jitter, Policy, retry};

const STEADY: Policy = Policy::new()
    .max(3)
    .base(Duration::from_millis(50))
    .jitter(Jitter::None);

/// And the retry is shown as it is logged.
#[tokio::test(start_paused = true)]
async fn the_closure_of_a_runner_needs_no_type() {
    let seen = RefCell::new(Vec::new());
    let ended = STEADY
        .on(|_: &Error| true)
        .on_retry(|retry| seen.borrow_mut().push(retry.to_string()))
        .run_async(async || Err::<(), _>(Error::from(ErrorKind::ConnectionRefused)))
        .await;
    assert!(ended.is_err());
    let shown = [
        "attempt 1 of 3: connection refused; again in 50 ms",
        "attempt 2 of 3: connection refused; again in 100 ms",
    ];
    assert_eq!(*seen.borrow(), shown);

    let _time = virtual_time();
    let mut count = 0;
    let counted = STEADY.on(|_: &Error| true).on_retry(|_| count += 1);
    assert!(
        counted
            .run(|| Err::<(), _>(Error::from(ErrorKind::TimedOut)))
            .is_err()
    );
    assert_eq!(count, 2);
}

/// Each error type has its own `Display`; a limit has words of the library.
#[test]
fn a_retry_without_a_limit_says_no_number() {
    let _time = virtual_time();
    let mut seen = Vec::new();
    let ended = STEADY
        .unlimited()
        .deadline(Duration::from_secs(1))
        .on(|_: &&str| true)
        .on_retry(|retry| seen.push(retry.to_string()))
        .run(|| Err::<(), _>("busy"));
    assert!(ended.is_err());
    assert_eq!(seen[0], "attempt 1: busy; again in 50 ms");
}

/// An attempt is what people write it as: a number.
#[test]
fn an_attempt_is_shown_as_its_number_and_compares_with_one() {
    #[retry(max = 3, base = "1ns", on(_), context = attempt)]
    fn fetch() -> Result<String, String> {
        if attempt == 1 || attempt < 3 {
            return Err(attempt.to_string());
        }
        Ok(format!("{attempt:>2}"))
    }
    assert_eq!(fetch(), Ok(" 3".to_owned()));
}
