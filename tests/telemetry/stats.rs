//! The statistics of the process.

use std::cell::Cell;
use std::future::pending;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use reattempt::observe::{self, Event, RetryCause};
use reattempt::testing::virtual_time;
use reattempt::{GiveUpReason, Jitter, Policy, retry};

use crate::support::{Declined, Lines, reported};

const HOUR: Duration = Duration::from_secs(3600);

/// Delays of 100 ms and 200 ms.
const STEADY: Policy = Policy::new()
    .max(3)
    .base(Duration::from_millis(100))
    .jitter(Jitter::None);

#[retry(policy = STEADY, name = "stats.pay", on(Declined(503)))]
fn pay(failures: &mut u32, status: u16) -> Result<(), Declined> {
    if *failures > 0 {
        *failures -= 1;
        return Err(Declined(status));
    }
    Ok(())
}

/// The second time nobody knows whether it was executed, and it was.
#[retry(name = "stats.verified", base = "1ns", idempotent = false, verify = |_| Some(7))]
fn verified(calls: &mut u32) -> io::Result<u32> {
    *calls += 1;
    let kind = match calls {
        1 => io::ErrorKind::ConnectionRefused,
        _ => io::ErrorKind::TimedOut,
    };
    Err(kind.into())
}

#[test]
fn what_is_found_to_be_done_has_recovered() {
    let _time = virtual_time();
    assert_eq!(verified(&mut 0).unwrap(), 7);
    let stats = observe::stats();
    let verified = stats.operation("stats.verified").unwrap();
    assert_eq!((verified.calls(), verified.recoveries()), (1, 1));
}

/// A judgement that panics about a retry, inside a retry that recovers.
#[test]
fn a_panic_that_is_caught_takes_no_recovery_away() {
    #[retry(nested = "multiply", on = |_: &Declined| { assert!(*calls < 2); true })]
    fn panics(calls: &mut u32) -> Result<(), Declined> {
        *calls += 1;
        Err(Declined(503))
    }
    #[retry(name = "stats.catches", on(_))]
    fn catches(attempts: &mut u32) -> Result<(), Declined> {
        *attempts += 1;
        if *attempts == 1 {
            return Err(Declined(503));
        }
        assert!(std::panic::catch_unwind(|| panics(&mut 0)).is_err());
        Ok(())
    }
    let _time = virtual_time();
    catches(&mut 0).unwrap();
    let stats = observe::stats();
    let catches = stats.operation("stats.catches").unwrap();
    assert_eq!((catches.calls(), catches.recoveries()), (1, 1));
}

#[test]
fn an_operation_since_the_start() {
    let _time = virtual_time();
    assert!(pay(&mut 0, 503).is_ok());
    assert!(pay(&mut 1, 503).is_ok());
    assert!(pay(&mut 2, 503).is_ok());
    assert!(pay(&mut 9, 503).is_err());
    assert!(pay(&mut 9, 402).is_err());

    let stats = observe::stats();
    let pay = stats.operation("stats.pay").unwrap();
    assert_eq!((pay.calls(), pay.recoveries(), pay.gave_up()), (4, 2, 2));
    assert_eq!((pay.failed_attempts(), pay.retries()), (7, 5));
    assert_eq!(pay.causes(), [(RetryCause::Transient, 5)]);
    assert_eq!(
        pay.give_ups(),
        [(GiveUpReason::Attempts, 1), (GiveUpReason::Permanent, 1)]
    );
    assert_eq!(pay.delay(), Duration::from_millis(100 + 300 + 300));
    let error = pay.last_error().unwrap();
    assert_eq!(error.error_type(), std::any::type_name::<Declined>());
    assert_eq!(error.message(), Some("status 402"));
    assert!(error.at() <= SystemTime::now());

    let table = stats.to_string();
    let line = table
        .lines()
        .find(|line| line.starts_with("stats.pay "))
        .unwrap();
    let words: Vec<_> = line.split_whitespace().take(15).collect();
    assert_eq!(
        words.join(" "),
        "stats.pay 4 7 5 (transient 5) 2 2 (attempts 1, permanent 1) 0 700 ms"
    );
    let json = serde_json::to_value(&stats).unwrap();
    let operations = json["operations"].as_array().unwrap();
    let pay = operations
        .iter()
        .find(|operation| operation["operation"] == "stats.pay");
    assert_eq!(pay.unwrap()["delay"], 0.7);
}

#[retry(policy = STEADY, name = "stats.dropped", on(_))]
async fn cancelled(calls: &Cell<u32>, panics: bool) -> Result<(), Declined> {
    calls.set(calls.get() + 1);
    assert!(!panics || calls.get() == 1, "the second attempt");
    if calls.get() > 1 {
        pending::<()>().await;
    }
    Err(Declined(503))
}

/// In a delay, and in the second attempt; not before anything has failed, and not where a panic says more.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_after_a_failure() {
    let lines = Lines::keep(tracing::Level::INFO);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&seen);
    let observer = Arc::new(move |event: &Event<'_>| keep.lock().unwrap().push(event.to_string()));
    let dropped = |after: Duration, panics: bool| {
        let observer = Arc::clone(&observer);
        async move {
            let calls = Cell::new(0);
            let call = observe::scope(observer, cancelled(&calls, panics));
            assert!(tokio::time::timeout(after, call).await.is_err());
        }
    };
    dropped(Duration::from_millis(50), false).await;
    dropped(Duration::from_millis(150), false).await;
    let panicked = tokio::task::LocalSet::new()
        .run_until(async { tokio::task::spawn_local(dropped(HOUR, true)).await })
        .await;
    assert!(panicked.unwrap_err().is_panic());

    let stats = observe::stats();
    let stats = stats.operation("stats.dropped").unwrap();
    assert_eq!((stats.calls(), stats.dropped(), stats.gave_up()), (2, 2, 0));
    let ends = seen.lock().unwrap().clone();
    let is_end = |line: &&String| line.ends_with("the call was dropped");
    assert_eq!(ends.iter().filter(is_end).count(), 2);
    assert_eq!(
        ends[2],
        "stats.dropped: attempt 1 of 3 failed: status 503; the call was dropped"
    );
    // One of the two: they come in the same second.
    let lines = lines.take();
    assert_eq!(reported(&lines), ["INFO dropped"]);
    assert!(lines[0]["fields"]["call_elapsed"].is_number());
}
