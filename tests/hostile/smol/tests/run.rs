//! They wait, a microsecond or two, on async-io.

use std::time::Duration;

use async_io::block_on;
use hostile_smol::{Service, named, plain, run, stuck};
use reattempt::{GiveUpReason, deadline};

fn sendable<F: Future + Send>(future: F) -> F {
    future
}

#[test]
fn they_wait() {
    let service = Service::default;
    assert_eq!(block_on(sendable(plain(&service()))).ok(), Some(3));
    assert_eq!(block_on(sendable(named(&service()))).ok(), Some(3));
    assert_eq!(block_on(run(&service())).ok(), Some(3));
}

#[test]
fn time_cuts_it_off() {
    let failed = block_on(sendable(stuck())).map_err(|failed| (failed.reason(), failed.attempts()));
    assert_eq!(failed, Err((GiveUpReason::Deadline, 1)));
}

#[test]
fn under_a_deadline() {
    let answer = block_on(deadline::within(Duration::from_secs(60), async {
        assert!(deadline::remaining().is_some());
        plain(&Service::default()).await
    }));
    assert_eq!(answer.ok(), Some(3));
    // Over before it begins: the one attempt there is fails.
    let service = Service::default();
    assert!(block_on(deadline::within(Duration::ZERO, plain(&service))).is_err());
    assert_eq!(block_on(plain(&service)).ok(), Some(3));
    assert_eq!(deadline::remaining(), None);
}
