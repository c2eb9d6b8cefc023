//! They retry.

use std::cell::Cell;
use std::io;

use hostile_runners::Busy;

/// The number of the attempt, once the ones before have failed.
fn attempt<E>(calls: &Cell<u8>, last: u8, error: impl Into<E>) -> Result<u8, E> {
    calls.set(calls.get() + 1);
    if calls.get() < last {
        Err(error.into())
    } else {
        Ok(calls.get())
    }
}

#[test]
fn sync() {
    let calls = Cell::new(0);
    let reset = || io::Error::from(io::ErrorKind::ConnectionReset);
    let read = hostile_runners::read(|| attempt(&calls, 2, reset()));
    assert_eq!(read.unwrap(), 2);

    calls.set(0);
    let load = hostile_runners::load(|| attempt(&calls, 2, reset()));
    assert_eq!(load.unwrap(), 2);

    calls.set(0);
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    assert!(hostile_runners::load(|| attempt(&calls, 2, missing())).is_err());
    assert_eq!(calls.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn asynchronous() {
    let calls = Cell::new(0);
    let order = hostile_runners::order(async || attempt(&calls, 4, Busy)).await;
    assert_eq!(order.unwrap(), 4);

    calls.set(0);
    let end = hostile_runners::order(async || attempt(&calls, 9, Busy)).await;
    assert_eq!(end.unwrap_err().attempts(), 4);
}
