use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use super::{Bulkhead, Full};
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
}

#[test]
fn four_threads_never_hold_more_than_the_limit() {
    static BULKHEAD: Bulkhead = Bulkhead::new(3);
    static RUNNING: AtomicU32 = AtomicU32::new(0);
    let let_through: u32 = thread::scope(|scope| {
        let work = || {
            let mut let_through = 0;
            for _ in 0..100_000 {
                if let Ok(_permit) = BULKHEAD.permit() {
                    assert!(RUNNING.fetch_add(1, Ordering::AcqRel) < 3);
                    let_through += 1;
                    RUNNING.fetch_sub(1, Ordering::AcqRel);
                }
            }
            let_through
        };
        let threads = [(); 4].map(|()| scope.spawn(work));
        threads
            .into_iter()
            .map(|thread| thread.join().expect("it does not panic"))
            .sum()
    });
    assert!(let_through >= 300_000, "{let_through}");
    assert_eq!(BULKHEAD.running(), 0);
}

#[test]
#[should_panic(expected = "write `Bulkhead::new(16)`\nrule R10")]
fn a_limit_of_zero() {
    let _ = Bulkhead::new(0);
}
