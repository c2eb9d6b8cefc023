use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use reattempt::{Budget, GiveUpReason, Policy, RetryError, Verdict, retry, retry_block, testing};

static SHARED: Budget = Budget::per_success(0.5).floor(0.0).initial(2);

#[retry(max = 3, base = "1ms", budget = &SHARED, on(_))]
fn shared(calls: &Cell<u32>, ok: bool) -> Result<u32, RetryError<&'static str>> {
    calls.set(calls.get() + 1);
    if ok { Ok(1) } else { Err("down") }
}

#[retry(max = 3, base = "1ms", budget = 0.5, on(_))]
async fn own(calls: &Cell<u32>, ok: bool) -> Result<u32, RetryError<&'static str>> {
    calls.set(calls.get() + 1);
    if ok { Ok(1) } else { Err("down") }
}

const STORE: Policy = Policy::new()
    .max(3)
    .base(Duration::from_millis(1))
    .budget(&INHERITED);
static INHERITED: Budget = Budget::per_success(0.5).floor(0.0).initial(1);

#[retry(policy = STORE, on(_))]
async fn inherited(calls: &Cell<u32>) -> Result<u32, &'static str> {
    calls.set(calls.get() + 1);
    Err("down")
}

#[retry(max = 3, base = "1ms", budget = budget, on(_))]
fn borrowed(budget: Arc<Budget>, calls: &Cell<u32>) -> Result<u32, &'static str> {
    calls.set(calls.get() + 1);
    Err("down")
}

#[test]
fn a_shared_budget_pays_for_retries() {
    let _time = testing::virtual_time();
    let calls = Cell::new(0);
    let end = shared(&calls, false).unwrap_err();
    assert_eq!((calls.get(), end.reason()), (3, GiveUpReason::Attempts));
    let end = shared(&calls, false).unwrap_err();
    assert_eq!((calls.get(), end.reason()), (4, GiveUpReason::Budget));
    for _ in 0..2 {
        assert!(shared(&calls, true).is_ok());
    }
    let end = shared(&calls, false).unwrap_err();
    assert_eq!((calls.get(), end.reason()), (8, GiveUpReason::Budget));
    let _ = retry_block!(max = 2, budget = &SHARED, on(_), || -> Result<(), &str> {
        Ok(())
    });
}

#[tokio::test(start_paused = true)]
async fn an_operation_has_a_budget_of_its_own() {
    let calls = Cell::new(0);
    let mut gave_up = 0;
    for _ in 0..100 {
        gave_up +=
            u32::from(own(&calls, false).await.unwrap_err().reason() == GiveUpReason::Budget);
    }
    println!("{} {gave_up}", calls.get());
    assert!(gave_up > 80);
    assert!(inherited(&calls).await.is_err());
    let _ = Verdict::Transient;
}

#[test]
fn a_borrowed_budget() {
    let _time = testing::virtual_time();
    let calls = Cell::new(0);
    let budget = Arc::new(Budget::per_success(0.5).floor(0.0).initial(1));
    let _ = borrowed(Arc::clone(&budget), &calls);
    assert_eq!(calls.get(), 2);
}

const SHARE: f64 = 0.5;
const NAMED: &Budget = &SHARED_BY_NAME;
static SHARED_BY_NAME: Budget = Budget::per_success(0.5).floor(0.0).initial(1);

/// A constant may be the share, or the budget.
#[test]
fn constants() {
    #[retry(max = 30, base = "1ms", budget = SHARE, on(_))]
    fn by_share(calls: &Cell<u32>) -> Result<u32, &'static str> {
        calls.set(calls.get() + 1);
        Err("down")
    }
    #[retry(max = 30, base = "1ms", budget = NAMED, on(_))]
    fn by_name(calls: &Cell<u32>) -> Result<u32, &'static str> {
        calls.set(calls.get() + 1);
        Err("down")
    }
    let _time = testing::virtual_time();
    let calls = Cell::new(0);
    let _ = by_share(&calls);
    assert_eq!(calls.take(), 11);
    let _ = by_name(&calls);
    assert_eq!(calls.take(), 2);
}
