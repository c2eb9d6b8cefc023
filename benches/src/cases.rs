//! What is measured: the same body bare, in a loop by hand, and under `#[retry]`.
//! `sync`, `asynchronous` and `limits` hold the functions, `breakers` those of other
//! crates, this file what calls them.

mod asynchronous;
pub(crate) mod breakers;
mod by_hand;
mod limits;
#[cfg(feature = "config")]
mod named;
mod service;
mod sync;
mod time;

pub(crate) use asynchronous::{polled, polled_in_tokio};
pub(crate) use by_hand::{exponential, exponential_from, exponential_within};
pub(crate) use service::Scripted;
pub(crate) use time::Still;

use std::cell::Cell;
use std::hint::black_box;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use reattempt::overload::breaker::Open;
use reattempt::{Classify, GaveUp, Verdict};
use tokio::runtime::{Builder, Runtime};

/// Runs a case: each of so many calls fails so often before it succeeds.
pub(crate) type Run = fn(failures: u32, calls: u64);

/// The case of this name.
pub(crate) fn find(name: &str) -> Option<Run> {
    let cases = sync::CASES
        .iter()
        .chain(asynchronous::CASES)
        .chain(limits::CASES)
        .chain(breakers::CASES)
        .chain(service::CASES);
    #[cfg(feature = "config")]
    let cases = cases.chain(named::CASES);
    let (_, run) = cases.into_iter().find(|(case, _)| *case == name)?;
    Some(*run)
}

/// A small error, which a function classifies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fault {
    Busy,
    Broken,
}

// What a breaker refuses has no error of its own.
impl From<GaveUp> for Fault {
    fn from(_: GaveUp) -> Self {
        Self::Broken
    }
}

impl From<Open> for Fault {
    fn from(_: Open) -> Self {
        Self::Broken
    }
}

/// An error of 8 bytes, whatever it says.
#[derive(Debug, Clone, Copy)]
#[expect(dead_code, reason = "nobody reads it")]
pub(crate) struct Code(u64);

impl From<GaveUp> for Code {
    fn from(_: GaveUp) -> Self {
        Self(0)
    }
}

/// An error of 128 bytes that has to be dropped.
#[derive(Debug)]
pub(crate) struct Huge([u64; 16]);

impl Drop for Huge {
    fn drop(&mut self) {
        black_box(&self.0);
    }
}

impl From<GaveUp> for Huge {
    fn from(_: GaveUp) -> Self {
        Self([0; 16])
    }
}

pub(crate) fn is_huge(error: &Huge) -> bool {
    black_box(&error.0)[0] == 7
}

impl Classify for Fault {
    fn classify(&self) -> Verdict {
        is_transient(self).into()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "`on` gives a reference")]
pub(crate) fn is_transient(fault: &Fault) -> bool {
    *fault == Fault::Busy
}

pub(crate) fn is_busy(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ResourceBusy
}

/// The body of every case: fails as often as its parameter says, then succeeds.
#[derive(Default)]
pub(crate) struct Script {
    failures: Cell<u32>,
    value: u64,
}

impl Script {
    pub(crate) fn fail(&self, failures: u32) {
        self.failures.set(failures);
    }

    /// Checks that the last call was retried until nothing failed any more.
    pub(crate) fn finished(&self) {
        assert_eq!(self.failures.get(), 0, "each failure is retried");
    }

    #[inline]
    pub(crate) fn fails(&self) -> bool {
        match self.failures.get() {
            0 => false,
            left => {
                self.failures.set(left - 1);
                true
            }
        }
    }

    #[inline]
    pub(crate) fn small(&self) -> Result<u64, Fault> {
        if self.fails() {
            return Err(black_box(Fault::Busy));
        }
        Ok(self.value)
    }

    #[inline]
    pub(crate) fn coded(&self) -> Result<u64, Code> {
        if self.fails() {
            return Err(Code(black_box(7)));
        }
        Ok(self.value)
    }

    #[inline]
    pub(crate) fn huge(&self) -> Result<u64, Huge> {
        if self.fails() {
            return Err(Huge(black_box([7; 16])));
        }
        Ok(self.value)
    }

    #[inline]
    pub(crate) fn large(&self) -> io::Result<[u64; 8]> {
        if self.fails() {
            return Err(black_box(io::ErrorKind::ResourceBusy).into());
        }
        Ok([self.value; 8])
    }
}

/// Calls `function` through a pointer, so that every way to write it pays the same.
pub(crate) fn repeat<A>(failures: u32, calls: u64, function: fn(&Script) -> A) {
    let function = black_box(function);
    let script = Script::default();
    for _ in 0..calls {
        script.failures.set(failures);
        black_box(function(black_box(&script)));
    }
    script.finished();
}

/// Polls as an executor does: without seeing into the future.
#[inline(never)]
pub(crate) fn block_on<A>(mut future: Pin<&mut dyn Future<Output = A>>) -> A {
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(answer) = black_box(future.as_mut()).poll(&mut context) {
            return answer;
        }
    }
}

/// Pending once.
pub(crate) struct Yield(bool);

impl Yield {
    pub(crate) const fn once() -> Self {
        Self(false)
    }
}

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// The same on tokio's timer, in time that moves when nothing else does.
pub(crate) fn repeat_in_tokio<A>(failures: u32, calls: u64, function: fn(&Runtime, &Script) -> A) {
    let runtime = paused();
    let function = black_box(function);
    let script = Script::default();
    for _ in 0..calls {
        script.failures.set(failures);
        black_box(function(&runtime, black_box(&script)));
    }
}

/// A runtime whose time is paused.
pub(crate) fn paused() -> Runtime {
    Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap_or_else(|error| panic!("no runtime: {error}"))
}
