//! Virtual time and seeds: exact schedules, and nothing left behind.

use std::panic::catch_unwind;
use std::time::Duration;

use reattempt::testing::{self, AttemptEnd, CallEnd, FaultPlan};
use reattempt::timer::{Clock as _, ThreadTimer};
use reattempt::{GiveUpReason, Verdict, deadline, retry};

use crate::support::{
    Fault, HOUR, PAUSE, ms, quick, random, random_async, reset, slow, slow_async,
};

#[test]
fn an_hour_of_virtual_time() {
    let time = testing::virtual_time();
    let record = testing::record();
    assert_eq!(slow(&FaultPlan::script("fail x9, ok", reset)), Ok(()));
    assert_eq!(time.elapsed(), HOUR);
    assert_eq!(record.schedule(), [PAUSE; 9]);

    assert_eq!(slow(&FaultPlan::always(reset)), Err(Fault::Reset));
    assert_eq!(time.elapsed(), 2 * HOUR);
    let calls = record.calls();
    assert_eq!(calls[1].delays(), [PAUSE; 9]);
    assert_eq!(calls[1].end(), CallEnd::GaveUp(GiveUpReason::Attempts));
    let last = calls[1].attempts()[9];
    assert_eq!((last.number(), last.delay()), (10, None));
    assert_eq!(last.end(), AttemptEnd::Failed(Verdict::Transient));
}

#[tokio::test(start_paused = true)]
async fn an_hour_of_a_paused_clock() {
    let start = tokio::time::Instant::now();
    let record = testing::record();
    let faults = FaultPlan::script("fail x9, ok", reset);
    assert_eq!(slow_async(&faults).await, Ok(()));
    assert_eq!(start.elapsed(), HOUR);
    assert_eq!(record.schedule(), [PAUSE; 9]);
    assert_eq!(record.calls()[0].end(), CallEnd::Succeeded);
}

/// A call's own deadline and one from above obey virtual time, and what the
/// body sees of them.
#[test]
fn deadlines_in_virtual_time() {
    #[retry(name = "dear", deadline = "10s", base = "1s", jitter = "none", context = attempt)]
    fn dear(seen: &mut Vec<(Duration, Option<Duration>)>) -> Result<(), Fault> {
        seen.push((attempt.elapsed(), attempt.remaining()));
        testing::virtual_time().advance(ms(4_000));
        Err(Fault::Reset)
    }
    let time = testing::virtual_time();
    let record = testing::record();
    let mut seen = Vec::new();
    assert_eq!(dear(&mut seen), Err(Fault::Reset));
    assert_eq!(time.elapsed(), ms(4_000 + 1_000 + 4_000));
    assert_eq!(seen[1], (ms(5_000), Some(ms(5_000))));

    let left = deadline::within_blocking(ms(5_000), || {
        assert_eq!(dear(&mut seen), Err(Fault::Reset));
        deadline::remaining()
    });
    assert_eq!(left, Some(ms(1_000)));
    record.assert(
        "
        dear
          1. failed (transient), retry in 1s
          2. failed (transient), gave up (deadline)
        dear
          1. failed (transient), gave up (deadline)
        ",
    );
}

#[test]
fn seeds_give_equal_schedules() {
    let schedule = |number| {
        let _time = testing::virtual_time();
        let _seeded = testing::seed(number);
        let record = testing::record();
        assert!(random(&FaultPlan::always(reset)).is_err());
        record.schedule()
    };
    assert_eq!(schedule(1), schedule(1));
    assert_eq!(schedule(1).len(), 5);
    assert_ne!(schedule(1), schedule(2));
}

/// The numbers are those of the sync function, and so is the record's text.
#[tokio::test(start_paused = true)]
async fn seeds_in_async_code() {
    let record = testing::record();
    {
        let _seeded = testing::seed(1);
        let _time = testing::virtual_time();
        assert!(random(&FaultPlan::always(reset)).is_err());
    }
    {
        let _seeded = testing::seed(1);
        assert!(random_async(&FaultPlan::always(reset)).await.is_err());
    }
    let calls = record.calls();
    assert_eq!(calls[0], calls[1]);
}

#[test]
fn panics_restore_time_seeds_and_records() {
    let outer = testing::record();
    let panicked = catch_unwind(|| {
        let _time = testing::virtual_time();
        let _seeded = testing::seed(1);
        let _record = testing::record();
        let faults = FaultPlan::after(0, reset).then(FaultPlan::always(|| panic!("no fault")));
        quick(&faults)
    });
    assert!(panicked.is_err());
    outer.assert(
        "
        quick
          1. failed (transient), retry at once
          did not end
        ",
    );
    let before = ThreadTimer.now();
    assert!((0..10_000_000).any(|_| ThreadTimer.now() != before));
    let unseeded = ThreadTimer.random();
    let _seeded = testing::seed(1);
    assert_ne!(ThreadTimer.random(), unseeded);
}

/// What concerns one thread leaves the others alone.
#[test]
fn threads_stand_apart() {
    let time = testing::virtual_time();
    let record = testing::record();
    std::thread::spawn(|| {
        let own = testing::virtual_time();
        assert!(slow(&FaultPlan::always(reset)).is_err());
        assert_eq!(own.elapsed(), HOUR);
    })
    .join()
    .unwrap();
    assert_eq!(time.elapsed(), Duration::ZERO);
    record.assert("");
}
