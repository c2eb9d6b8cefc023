//! Clients whose settings are known when the program runs.

use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::task::{LocalSet, yield_now};

use crate::allocations;
use crate::cases::{Script, paused};

pub(super) struct Client<S> {
    pub(super) settings: S,
    pub(super) script: Script,
}

impl<S> Client<S> {
    pub(super) fn new(settings: S) -> Self {
        Self {
            settings: black_box(settings),
            script: Script::default(),
        }
    }

    /// A client that fails always.
    pub(super) fn failing(settings: S) -> &'static Self {
        let client = Self::new(settings);
        client.script.fail(u32::MAX);
        Box::leak(Box::new(client))
    }
}

/// The policy of a loop by hand.
pub(super) struct Limits {
    pub(super) max: u32,
    pub(super) base: Duration,
    pub(super) cap: Duration,
}

impl Limits {
    pub(super) const USUAL: Self = Self {
        max: 5,
        base: Duration::from_millis(1),
        cap: Duration::from_secs(20),
    };
}

/// Calls the method of a client, as `cases::repeat` calls a function.
pub(super) fn called<S, A>(failures: u32, calls: u64, settings: S, method: fn(&Client<S>) -> A) {
    let (method, client) = (black_box(method), Client::new(settings));
    for _ in 0..calls {
        client.script.fail(failures);
        black_box(method(black_box(&client)));
    }
    client.script.finished();
}

/// The same of an async method.
pub(super) fn fetched<S: 'static, F: Future>(
    failures: u32,
    calls: u64,
    settings: S,
    method: impl Fn(&'static Client<S>) -> F,
) {
    let client: &'static Client<S> = Box::leak(Box::new(Client::new(settings)));
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..calls {
        client.script.fail(failures);
        let mut future = pin!(method(black_box(client)));
        while black_box(poll(future.as_mut(), &mut context)).is_pending() {}
    }
    client.script.finished();
}

/// The same of an async function.
pub(super) fn polled<F: Future>(
    failures: u32,
    calls: u64,
    function: impl Fn(&'static Script) -> F,
) {
    fetched(failures, calls, (), |client| function(&client.script));
}

/// The same on tokio's timer, in time that moves when nothing else does.
pub(super) fn waited<F: Future>(
    failures: u32,
    calls: u64,
    function: impl Fn(&'static Script) -> F,
) {
    let (runtime, client) = (paused(), Client::failing(()));
    for _ in 0..calls {
        client.script.fail(failures);
        let future: Pin<&mut dyn Future<Output = _>> = pin!(function(black_box(&client.script)));
        black_box(runtime.block_on(future));
    }
    client.script.finished();
}

/// An executor does not see into the future that it polls.
#[inline(never)]
fn poll<F: Future>(future: Pin<&mut F>, context: &mut Context<'_>) -> Poll<F::Output> {
    future.poll(context)
}

/// Bytes that a task holds while it waits for its first retry.
pub(super) fn asleep<F: Future<Output: 'static> + 'static>(call: impl Fn() -> F) -> usize {
    const TASKS: usize = 1_000;
    let (runtime, tasks) = (paused(), LocalSet::new());
    let spawn = || {
        runtime.block_on(tasks.run_until(async {
            for _ in 0..TASKS {
                tokio::task::spawn_local(call());
            }
            // Time stands still as long as there is something to do.
            for _ in 0..TASKS {
                yield_now().await;
            }
        }));
    };
    spawn(); // the queue of tasks grows
    usize::try_from(allocations::kept(spawn)).unwrap_or(0) / TASKS
}
