//! Records of nested and concurrent calls, of every form of a retry.

use reattempt::testing::{self, AttemptEnd, CallEnd, FaultPlan};
use reattempt::{Backoff, GiveUpReason, Policy, RetryError, Verdict, deadline, retry, retry_block};

use crate::support::{Fault, ms, quick, reset};

#[test]
fn nested_calls_stand_apart() {
    #[retry(name = "outer", max = 3, backoff = "none")]
    fn outer(faults: &FaultPlan<Fault>) -> Result<(), Fault> {
        quick(faults)
    }
    let record = testing::record();
    assert_eq!(outer(&FaultPlan::script("fail x3, ok", reset)), Ok(()));
    let quick_alone = testing::record();
    assert_eq!(
        quick(&FaultPlan::from([Err(Fault::Wrong)])),
        Err(Fault::Wrong)
    );
    quick_alone.assert("quick\n  1. failed (permanent), gave up (permanent)");
    record.assert(
        "
        quick
          1. failed (transient), retry at once
          2. failed (transient), gave up (attempts)
        outer
          1. failed (transient), retry at once
          2. failed (transient), retry at once
          3. succeeded
        quick
          1. failed (transient), gave up (nested)
        quick
          1. failed (permanent), gave up (permanent)
        ",
    );
}

/// Calls of one function that run at the same time, and one that is dropped.
#[tokio::test(start_paused = true)]
async fn tasks_stand_apart() {
    #[retry(name = "fetch", base = "1s", jitter = "none")]
    async fn fetch(faults: &FaultPlan<Fault>) -> Result<(), Fault> {
        faults.check()
    }
    let record = testing::record();
    let wait = ms(1_500);
    let (busy, failing) = (
        FaultPlan::from([Err(Fault::Busy { wait }), Err(Fault::Wrong)]),
        FaultPlan::script("fail x2, ok", reset),
    );
    let _seeded = testing::seed(1);
    assert_eq!(
        tokio::join!(fetch(&busy), fetch(&failing)),
        (Err(Fault::Wrong), Ok(()))
    );
    let dropped = tokio::time::timeout(ms(500), fetch(&FaultPlan::always(reset))).await;
    assert!(dropped.is_err());

    let calls = record.calls();
    let ends: Vec<CallEnd> = calls.iter().map(testing::RecordedCall::end).collect();
    assert_eq!(
        ends,
        [
            CallEnd::GaveUp(GiveUpReason::Permanent),
            CallEnd::Succeeded,
            CallEnd::Open
        ]
    );
    let throttled = AttemptEnd::Failed(Verdict::Throttled(Some(wait)));
    assert_eq!(calls[0].attempts()[0].end(), throttled);
    assert!(calls[0].delays()[0] >= wait);
    assert_eq!(calls[1].delays(), [ms(1_000), ms(2_000)]);
    assert_eq!(calls[2].delays(), [ms(1_000)]);
}

/// Every form of a retry, and every way an attempt can end.
#[tokio::test(start_paused = true)]
async fn every_form_and_end() {
    #[retry(
        name = "hangs",
        timeout = "1s",
        deadline = "4s",
        base = "1s",
        jitter = "none"
    )]
    async fn hangs() -> Result<(), RetryError<Fault>> {
        std::future::pending().await
    }
    #[retry(name = "stalls", deadline = "1s")]
    async fn stalls() -> Result<(), RetryError<Fault>> {
        std::future::pending().await
    }
    #[retry(name = "polls", until = |value| *value > 1, base = "1s", jitter = "none")]
    async fn polls(value: &mut u32) -> u32 {
        *value += 1;
        *value
    }
    const STILL: Policy = Policy::new().max(2).backoff(Backoff::None);

    let record = testing::record();
    assert!(hangs().await.unwrap_err().is_timeout());
    assert!(stalls().await.unwrap_err().is_timeout());
    assert_eq!(polls(&mut 0).await, 2);
    let faults = FaultPlan::script("fail, ok", reset);
    let block = retry_block!(policy = STILL, name = "block", || -> Result<(), Fault> {
        faults.check()
    });
    assert_eq!(block, Ok(()));
    let faults = FaultPlan::always(reset);
    assert!(STILL.runner().name("run").run(|| faults.check()).is_err());
    let runner = STILL.runner().name("run_async");
    assert!(runner.try_run_async(async || faults.check()).await.is_err());
    record.assert(
        "
        hangs
          1. timed out, retry in 1s
          2. timed out, gave up (deadline)
        stalls
          1. cut off, gave up (deadline)
        polls
          1. not final, retry in 1s
          2. succeeded
        block
          1. failed (transient), retry at once
          2. succeeded
        run
          1. failed (transient), retry at once
          2. failed (transient), gave up (attempts)
        run_async
          1. failed (transient), retry at once
          2. failed (transient), gave up (attempts)
        ",
    );
}

/// A call that was dropped is not given the end of another in its place.
#[tokio::test(start_paused = true)]
async fn a_dropped_call_and_another_in_its_place() {
    #[retry(base = "1s", jitter = "none", timeout = "1h", on(_), name = "fetch")]
    async fn fetch(hangs: bool) -> Result<(), RetryError<u32>> {
        if hangs {
            std::future::pending::<()>().await;
        }
        Err(1)
    }
    let record = testing::record();
    for hangs in [false, true] {
        let call = deadline::within(ms(5_000), fetch(hangs));
        let wait = if hangs { 10_000 } else { 500 };
        let _ = tokio::time::timeout(ms(wait), call).await;
    }
    record.assert(
        "
        fetch
          1. failed (transient), retry in 1s
          did not end
        fetch
          1. cut off, gave up (deadline)
        ",
    );
}
