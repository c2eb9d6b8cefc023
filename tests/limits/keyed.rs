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

/// Which keys go: the clock of the thread stands still unless it is moved.
mod with_time {
    use std::sync::Arc;
    use std::time::Duration;

    use reattempt::Keyed;
    use reattempt::testing::virtual_time;

    use crate::support::SECOND;

    fn keys<T>(keyed: &Keyed<u32, T>) -> Vec<u32> {
        let mut keys = Vec::new();
        keyed.for_each(|key, _| keys.push(*key));
        keys.sort_unstable();
        keys
    }

    #[test]
    fn the_oldest_go_first() {
        let time = virtual_time();
        let keyed: Keyed<u32, ()> = Keyed::new(|_| ()).capacity(16);
        for key in 0..16 {
            time.advance(SECOND);
            keyed.get(&key);
        }
        time.advance(SECOND);
        keyed.get(&0);
        time.advance(SECOND);
        keyed.get(&16);
        let left: Vec<_> = [0].into_iter().chain(3..17).collect();
        assert_eq!(keys(&keyed), left);
        // There is room for another now.
        keyed.get(&17);
        assert_eq!(keyed.len(), 16);
    }

    #[test]
    fn those_in_use_go_last() {
        let time = virtual_time();
        let keyed: Keyed<u32, ()> = Keyed::new(|_| ()).capacity(4);
        let held: Vec<_> = [0, 1].map(|key| keyed.get(&key)).into();
        for key in 2..5 {
            time.advance(SECOND);
            keyed.get(&key);
        }
        assert_eq!(keys(&keyed), [0, 1, 3, 4]);
        assert!(Arc::ptr_eq(&held[0], &keyed.get(&0)));

        // All are in use: the oldest goes, and stays valid for who holds it.
        let all: Vec<_> = [3, 4].map(|key| keyed.get(&key)).into();
        time.advance(SECOND);
        keyed.get(&5);
        assert_eq!(keys(&keyed).len(), 4);
        assert!(keys(&keyed).contains(&5));
        assert_eq!((*held[1], *all[0]), ((), ()));
    }

    #[test]
    fn idle_keys_go_when_another_comes() {
        let time = virtual_time();
        let keyed: Keyed<u32, ()> = Keyed::new(|_| ()).idle(SECOND * 160);
        let held = keyed.get(&1);
        keyed.get(&2);
        keyed.get(&3);
        time.advance(SECOND * 100);
        keyed.get(&3);
        time.advance(SECOND * 60);
        keyed.get(&4);
        assert_eq!(keys(&keyed), [1, 2, 3, 4]); // not longer than that
        time.advance(SECOND * 10);
        assert_eq!(keyed.len(), 4); // nothing was added
        keyed.get(&5);
        assert_eq!(keys(&keyed), [1, 3, 4, 5]);
        drop(held);
        time.advance(SECOND * 161);
        keyed.get(&6);
        assert_eq!(keys(&keyed), [6]);
    }

    #[test]
    fn a_time_without_end_keeps_everything() {
        let time = virtual_time();
        let keyed: Keyed<u32, ()> = Keyed::new(|_| ()).idle(Duration::MAX);
        keyed.get(&1);
        time.advance(SECOND * 1_000_000_000);
        keyed.get(&2);
        assert_eq!(keys(&keyed), [1, 2]);
    }
}
