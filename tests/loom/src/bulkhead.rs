//! Bulkheads: the slots.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

#[path = "../../../crates/reattempt-overload/src/bulkhead/slots.rs"]
mod slots;

use slots::Slots;

/// With a single slot, what one attempt wrote has happened before the next one: loom fails where two are in the cell at
/// the same time, or where the second does not see what the first did.
#[test]
fn a_slot_is_held_by_one_at_a_time() {
    loom::model(|| {
        let shared = Arc::new((Slots::new(), UnsafeCell::new(0_u32)));
        let work = |shared: &(Slots, UnsafeCell<u32>)| {
            let is_taken = shared.0.take(1);
            if is_taken {
                shared.1.with_mut(|_| ());
                shared.0.free(1);
            }
            is_taken
        };
        let threads = [(); 2].map(|()| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || work(&shared))
        });
        let mine = work(&shared);
        let others = threads.map(|thread| thread.join().unwrap_or(false));
        assert!(mine || others.contains(&true));
        assert_eq!(shared.0.taken(), 0);
    });
}

/// However attempts meet, there are never more than the limit, and no slot is lost.
#[test]
fn two_of_three_get_a_slot() {
    loom::model(|| {
        let slots = Arc::new(Slots::new());
        let threads = [(); 2].map(|()| {
            let slots = Arc::clone(&slots);
            thread::spawn(move || slots.take(2))
        });
        let mine = slots.take(2);
        let others = threads.map(|thread| thread.join().unwrap_or(false));
        let taken = u64::from(mine) + others.into_iter().map(u64::from).sum::<u64>();
        assert_eq!((taken, slots.taken()), (2, 2));
        slots.free(2);
        assert_eq!(slots.taken(), 0);
    });
}
