//! What is measured: the same body bare, in a loop by hand, and under `#[retry]`.
//! `sync` and `asynchronous` hold the functions, this file what calls them.

mod asynchronous;
mod by_hand;
mod sync;
mod time;

use std::cell::Cell;
use std::hint::black_box;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// Runs a case: each of so many calls fails so often before it succeeds.
pub(crate) type Run = fn(failures: u32, calls: u64);

/// The case of this name.
pub(crate) fn find(name: &str) -> Option<Run> {
    let cases = sync::CASES.iter().chain(asynchronous::CASES);
    let (_, run) = cases.into_iter().find(|(case, _)| *case == name)?;
    Some(*run)
}

/// A small error, told apart by a function.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    Busy,
    #[allow(dead_code, reason = "for `is_transient` to have something to decide")]
    Broken,
}

fn is_transient(fault: &Fault) -> bool {
    *fault == Fault::Busy
}

fn is_busy(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ResourceBusy
}

/// The body of every case: fails as often as it is told to, then succeeds.
#[derive(Default)]
struct Script {
    failures: Cell<u32>,
    value: u64,
}

impl Script {
    #[inline(always)]
    fn fails(&self) -> bool {
        match self.failures.get() {
            0 => false,
            left => {
                self.failures.set(left - 1);
                true
            }
        }
    }

    #[inline(always)]
    fn small(&self) -> Result<u64, Fault> {
        if self.fails() {
            return Err(black_box(Fault::Busy));
        }
        Ok(self.value)
    }

    #[inline(always)]
    fn large(&self) -> io::Result<[u64; 8]> {
        if self.fails() {
            return Err(black_box(io::ErrorKind::ResourceBusy).into());
        }
        Ok([self.value; 8])
    }
}

/// Calls `function` through a pointer, so that every way to write it pays the same.
fn repeat<A>(failures: u32, calls: u64, function: fn(&Script) -> A) {
    let function = black_box(function);
    let script = Script::default();
    for _ in 0..calls {
        script.failures.set(failures);
        black_box(function(black_box(&script)));
    }
}

/// Polls as an executor does: without seeing into the future.
#[inline(never)]
fn block_on<A>(mut future: Pin<&mut dyn Future<Output = A>>) -> A {
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(answer) = black_box(future.as_mut()).poll(&mut context) {
            return answer;
        }
    }
}

/// Pending once.
struct Yield(bool);

impl Yield {
    const fn once() -> Self {
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

/// On tokio's timer, in time that moves when nothing else does.
fn repeat_in_tokio<A>(
    failures: u32,
    calls: u64,
    function: fn(&tokio::runtime::Runtime, &Script) -> A,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    if let Ok(runtime) = runtime {
        let function = black_box(function);
        repeat_with(failures, calls, |script| function(&runtime, script));
    }
}
