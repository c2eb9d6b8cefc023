//! A process in which nobody observes anything: other tests would.

use std::sync::Arc;

use reattempt_observe::{Event, add, scope_blocking, wants_times};

#[test]
fn times_are_wanted_while_somebody_is_there() {
    let observer = |_: &Event<'_>| assert!(!wants_times());
    assert!(!wants_times());
    scope_blocking(Arc::new(observer), || assert!(wants_times()));
    assert!(!wants_times());
    let (one, other) = (add(observer), add(observer));
    one.remove();
    assert!(wants_times());
    other.remove();
    assert!(!wants_times());
}
