//! Delays in a runtime of tokio that does not end them: it has no timer, was shut down, or waits in
//! another library's `block_on`. These wait for real: a few milliseconds, or a quarter of a second
//! where a thread looks after a runtime that does not.

use std::cell::Cell;
use std::task::{Context, Waker};

use reattempt::{GiveUpReason, RetryError, retry};
use tokio::runtime::{Builder, Runtime};

use crate::support::ms;

#[retry(max = 3, base = "1ns", on(_))]
async fn refused(calls: &Cell<u32>) -> Result<u32, u32> {
    calls.set(calls.get() + 1);
    Err(calls.get())
}

#[retry(max = 2, base = "1ns", timeout = "1ms", on(_))]
async fn stuck() -> Result<u32, RetryError<u32>> {
    std::future::pending().await
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// The thread of the runtime waits, and nobody looks at its timer.
#[test]
fn under_the_block_on_of_another_library() {
    one_thread().block_on(async {
        let refused = futures::executor::block_on(refused(&Cell::default()));
        assert_eq!(refused, Err(3));
        let stuck = async_io::block_on(stuck()).expect_err("always");
        let end = (stuck.reason(), stuck.attempts());
        assert_eq!(end, (GiveUpReason::Attempts, 2));
    });
    // A task of the runtime, too.
    one_thread().block_on(async {
        let task = tokio::spawn(async { futures::executor::block_on(stuck()).is_err() });
        assert!(task.await.unwrap());
    });
    // Nobody is in its `block_on` at all.
    let runtime = one_thread();
    let _entered = runtime.enter();
    let refused = futures::executor::block_on(refused(&Cell::default()));
    assert_eq!(refused, Err(3));
}

#[test]
fn without_a_timer() {
    let runtime = Builder::new_current_thread().build().unwrap();
    for _ in 0..2 {
        assert_eq!(runtime.block_on(refused(&Cell::default())), Err(3));
    }
    assert!(runtime.block_on(stuck()).is_err());
    // Others keep theirs.
    assert_eq!(one_thread().block_on(refused(&Cell::default())), Err(3));
}

#[test]
fn after_its_runtime() {
    let two = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    for runtime in [one_thread(), two] {
        let calls = Cell::new(0);
        let mut call = Box::pin(refused(&calls));
        let begun = {
            let _entered = runtime.enter();
            call.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        };
        assert!(begun.is_pending());
        runtime.shutdown_timeout(ms(1));
        assert_eq!(futures::executor::block_on(call), Err(3));
    }
}
