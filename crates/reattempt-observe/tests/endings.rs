//! Observers that are dropped, and threads that end, while retries are reported.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use reattempt_observe::{Event, Observer, add, scope_blocking};
use retry_runtime::Policy;

fn fails() -> Result<(), u8> {
    let policy = Policy::new().max(2).base(Duration::from_nanos(1));
    policy.on(|_: &u8| true).run(|| Err(1))
}

/// Makes a call that is reported while it is dropped, as one that has something left to send.
struct Sends;

impl Observer for Sends {
    fn observe(&self, _: &Event<'_>) {}
}

impl Drop for Sends {
    fn drop(&mut self) {
        let _ = fails();
    }
}

#[test]
fn an_observer_that_ends_may_make_calls() {
    let (done, ends) = channel();
    let (first, second) = (add(|_: &Event<'_>| {}), add(Sends));
    std::thread::spawn(move || {
        second.remove();
        done.send(()).unwrap();
    });
    ends.recv_timeout(Duration::from_secs(10)).unwrap();
    first.remove();
}

#[test]
fn a_thread_that_ends_may_make_calls() {
    struct Last;

    impl Drop for Last {
        fn drop(&mut self) {
            let _ = fails();
        }
    }

    thread_local!(static LAST: Last = const { Last });

    // A panic while the variables of a thread are dropped ends the process.
    let ended = std::thread::spawn(|| {
        LAST.with(|_| {});
        scope_blocking(Arc::new(|_: &Event<'_>| {}), fails)
    });
    assert_eq!(ended.join().unwrap(), Err(1));
}
