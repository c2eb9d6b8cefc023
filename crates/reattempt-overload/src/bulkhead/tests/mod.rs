mod adaptive;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use super::{Bulkhead, Full, Permit};
use reattempt_core::{Classify as _, Verdict};

#[test]
fn a_slot_is_free_again_when_its_permit_is_dropped() {
    let bulkhead = Bulkhead::new(2);
    let first = bulkhead.permit();
    let second = bulkhead.permit();
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(bulkhead.permit().err(), Some(Full));
    drop(first);
    assert_eq!((bulkhead.running(), bulkhead.limit()), (1, 2));
    let panics = AssertUnwindSafe(|| {
        let _permit = bulkhead.permit();
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(catch_unwind(panics).is_err());
    assert_eq!(bulkhead.running(), 1);
    drop(second);
    assert_eq!(
        format!("{bulkhead:?}"),
        "Bulkhead { running: 0, limit: 2, .. }"
    );
}

#[test]
fn the_slots_of_copies_go_with_the_permit() {
    let bulkhead = Bulkhead::new(3);
    let mut permit = bulkhead.permit().expect("it is empty");
    assert!(permit.take() && permit.take() && !permit.take());
    permit.free_one();
    assert_eq!(bulkhead.running(), 2);
    drop(permit);
    assert_eq!(bulkhead.running(), 0);
}

#[test]
fn a_refusal_says_that_nothing_was_executed() {
    assert_eq!(Full.classify(), Verdict::Refused);
    assert_eq!(Full.to_string(), "the bulkhead is full");
    assert_eq!(
        Full.message().map(ToString::to_string),
        Some(Full.to_string())
    );
}

/// Lets each thread through 10,000 times. Returns how often a thread was refused.
fn refusals(bulkhead: &Bulkhead, threads: usize) -> u32 {
    let running = AtomicU32::new(0);
    let work = || {
        let mut refused = 0_u32;
        for _ in 0..10_000 {
            let _permit = loop {
                match bulkhead.permit() {
                    Ok(permit) => break permit,
                    Err(Full) => refused = refused.saturating_add(1),
                }
                thread::yield_now();
            };
            assert!(running.fetch_add(1, Ordering::AcqRel) < bulkhead.limit());
            running.fetch_sub(1, Ordering::AcqRel);
        }
        refused
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let refused = threads.into_iter().map(thread::ScopedJoinHandle::join);
        refused
            .map(|refused| refused.expect("it does not panic"))
            .sum()
    })
}

#[test]
fn four_threads_never_hold_more_than_the_limit() {
    let bulkhead = Bulkhead::new(3);
    let _some = refusals(&bulkhead, 4);
    assert_eq!(bulkhead.running(), 0);
}

/// However they meet, and whichever is stopped for a while: a slot is free for each.
#[test]
fn no_more_threads_than_slots_are_never_refused() {
    let bulkhead = Bulkhead::new(3);
    assert_eq!(refusals(&bulkhead, 3), 0);
    assert_eq!(bulkhead.running(), 0);
}

#[test]
#[should_panic(expected = "write `Bulkhead::new(16)`\nrule R10")]
fn a_limit_of_zero() {
    let _ = Bulkhead::new(0);
}

/// What is reported without a clock is learned as well.
#[test]
fn the_clock_of_the_program() {
    for end in [
        |permit: Permit<'_>| permit.failed(Verdict::Throttled(None)),
        |permit: Permit<'_>| permit.timed_out(),
    ] {
        let bulkhead = Bulkhead::adaptive();
        let before = bulkhead.limit();
        for _ in 0..200 {
            end(bulkhead.permit().expect("nothing runs"));
        }
        assert!(bulkhead.limit() < before);
    }
}
