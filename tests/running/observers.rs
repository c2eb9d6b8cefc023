//! Observers that panic: those of the process belong to no call, and fail none.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use reattempt::observe::{self, Event};
use reattempt::overload::breaker::State;
use reattempt::{Breaker, retry, testing};

fn is_of(event: &Event<'_>, operation: &str) -> bool {
    (event.facts()).is_some_and(|facts| facts.operation() == operation)
}

/// The call goes on, and so do the observers after it.
#[test]
fn one_of_the_process() {
    #[retry(max = 3, name = "observed.by.the.process", on(_))]
    fn call(calls: &mut u32) -> Result<u32, &'static str> {
        *calls += 1;
        if *calls < 3 { Err("down") } else { Ok(*calls) }
    }
    static PANICS: AtomicU32 = AtomicU32::new(0);
    let panics = observe::add(|event: &Event<'_>| {
        if is_of(event, "observed.by.the.process") {
            PANICS.fetch_add(1, Ordering::Relaxed);
            panic!("an observer");
        }
    });
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let after = observe::add(move |event: &Event<'_>| {
        if is_of(event, "observed.by.the.process") {
            log.lock().unwrap().push(event.name());
        }
    });
    let _time = testing::virtual_time();
    assert_eq!(call(&mut 0), Ok(3));
    panics.remove();
    after.remove();
    let names = [
        "attempt_failed",
        "retry",
        "attempt_failed",
        "retry",
        "recovered",
    ];
    assert_eq!(*seen.lock().unwrap(), names);
    assert_eq!(PANICS.load(Ordering::Relaxed), 5);
}

#[test]
fn one_of_a_breaker() {
    static BREAKER: Breaker = Breaker::count_window(1).on_change(&|_| panic!("an observer"));
    #[retry(max = 1, breaker = &BREAKER, on(_))]
    fn call() -> Result<u32, reattempt::RetryError<&'static str>> {
        Err("down")
    }
    let _time = testing::virtual_time();
    assert_eq!(call().unwrap_err().last(), Some(&"down"));
    assert_eq!(BREAKER.state(), State::Open);
}

/// What the code around a call observes is a part of it, as its hooks are: a test may assert there.
#[test]
fn one_of_a_scope() {
    #[retry(max = 2, on(_))]
    fn call() -> Result<u32, &'static str> {
        Err("down")
    }
    let _time = testing::virtual_time();
    let observer = |_: &Event<'_>| panic!("an observer");
    let run = || observe::scope_blocking(Arc::new(observer), call);
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
}
