//! Idempotency keys: which calls have the same, and when one is drawn.

use std::cell::Cell;
use std::collections::HashSet;
use std::time::Duration;

use reattempt::timer::{BlockingTimer, Clock, Timestamp};
use reattempt::{retry, testing};

use crate::support::Fault;

/// A clock that stands still and knows one number.
struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::ZERO)
    }

    fn random(&self) -> u64 {
        7
    }
}

impl BlockingTimer for Still {
    fn sleep(&self, _: Duration) {}
}

#[retry(max = 3, backoff = "none", on(_), timer = Still, context = attempt)]
fn pay(seen: &mut Vec<String>) -> Result<(), Fault> {
    if attempt.is_retry() {
        seen.push(attempt.idempotency_key().to_string());
    }
    Err(Fault::Reset)
}

#[test]
fn a_clock_has_no_say_in_what_is_unique() {
    let mut payments = HashSet::new();
    for _ in 0..100 {
        let mut keys = Vec::new();
        assert_eq!(pay(&mut keys), Err(Fault::Reset));
        assert_eq!(keys.len(), 2);
        keys.dedup();
        let [key] = keys.try_into().expect("one key for all attempts");
        assert_eq!(key.len(), 32);
        assert!(payments.insert(key));
    }
}

#[retry(max = 4, on(_), context = attempt)]
fn counted(key: &Cell<Option<u32>>) -> Result<(), Fault> {
    if key.get() == Some(attempt.number()) {
        attempt.idempotency_key();
    }
    Err(Fault::Reset)
}

#[retry(max = 4, on(_))]
fn plain() -> Result<(), Fault> {
    Err(Fault::Reset)
}

/// The delays of a seed tell how many numbers the key took, and when.
#[test]
fn a_key_is_drawn_when_it_is_asked_for() {
    let schedule = |call: &dyn Fn() -> Result<(), Fault>| {
        let _time = testing::virtual_time();
        let _seeded = testing::seed(7);
        let record = testing::record();
        assert_eq!(call(), Err(Fault::Reset));
        record.schedule()
    };
    let expected = schedule(&plain);
    assert_eq!(schedule(&|| counted(&Cell::new(None))), expected);
    let second = schedule(&|| counted(&Cell::new(Some(2))));
    assert_eq!(second[..1], expected[..1]);
    assert_ne!(second[1..], expected[1..]);
}

#[test]
fn a_seed_gives_the_same_keys() {
    let keys = || {
        let _seeded = testing::seed(7);
        let mut keys = Vec::new();
        assert_eq!(pay(&mut keys), Err(Fault::Reset));
        keys
    };
    assert_eq!(keys(), keys());
}
