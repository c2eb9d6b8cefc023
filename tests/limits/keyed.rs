//! One budget and one breaker for each host.

use std::cell::Cell;
use std::time::Duration;

use reattempt::{Breaker, Budget, GiveUpReason, Keyed, RetryError, retry, testing};

static BUDGETS: Keyed<String, Budget> =
    Keyed::new(|_| Budget::per_success(0.1).floor(0.0).initial(2)).capacity(100);
static BREAKERS: Keyed<String, Breaker> = Keyed::new(|_| Breaker::count_window(6))
    .capacity(100)
    .idle(Duration::from_secs(60));

#[retry(max = 5, base = "1ms", budget = BUDGETS.get(host), breaker = BREAKERS.get(host), on(_))]
fn fetch(host: &str, calls: &Cell<u32>) -> Result<(), RetryError<&'static str>> {
    calls.set(calls.get() + 1);
    if host == "up" { Ok(()) } else { Err("down") }
}

#[retry(max = 5, base = "1ms", budget = BUDGETS.get(&host), breaker = BREAKERS.get(&host), clone(host), on(_))]
async fn fetch_async(host: String, calls: &Cell<u32>) -> Result<(), RetryError<&'static str>> {
    calls.set(calls.get() + 1);
    if host == "up" { Ok(()) } else { Err("down") }
}

#[tokio::test(start_paused = true)]
async fn hosts_do_not_share() {
    let time = testing::virtual_time();
    let calls = Cell::new(0);
    for host in ["a", "b"] {
        calls.set(0);
        let end = fetch(host, &calls).unwrap_err();
        assert_eq!((calls.get(), end.reason()), (3, GiveUpReason::Budget));
        let end = fetch_async(host.to_owned(), &calls).await.unwrap_err();
        assert_eq!((calls.get(), end.reason()), (4, GiveUpReason::Budget));
        for _ in 0..2 {
            assert!(fetch(host, &calls).is_err());
        }
        assert_eq!(fetch(host, &calls).unwrap_err().attempts(), 0);
        assert!(fetch("up", &calls).is_ok());
    }
    assert_eq!((BUDGETS.len(), BREAKERS.len()), (3, 3));
    // What is idle for a minute goes when another host comes, also one that is open.
    time.advance(Duration::from_secs(61));
    assert!(fetch("other", &calls).is_err());
    assert_eq!(BREAKERS.len(), 1);
}
