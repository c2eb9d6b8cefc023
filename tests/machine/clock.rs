//! A clock that goes on only while somebody waits: our own, or that of tokio, which stands still.

use std::cell::Cell;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use reattempt::testing;
use reattempt::timer::{Clock, Timer, Tokio};
use tokio::runtime::{Builder, Runtime};

use crate::case::Case;
use crate::company;
use crate::names::{BlockingTimer, Timestamp};
use crate::random::Random;

thread_local! {
    static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static LATE: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static RANDOM: Cell<Random> = const { Cell::new(Random(0)) };
    /// The earliest end of the waits that were polled.
    static WAKE: Cell<Option<Duration>> = const { Cell::new(None) };
    static TOKIO: Cell<bool> = const { Cell::new(false) };
    /// Whether a future is driven.
    static DRIVES: Cell<bool> = const { Cell::new(false) };
    static RUNTIME: &'static Runtime = {
        let mut runtime = Builder::new_current_thread();
        Box::leak(Box::new(runtime.enable_time().start_paused(true).build().expect("a runtime")))
    };
}

/// The time of a case, until what is answered is dropped.
pub(crate) fn start(case: &Case) -> impl Sized {
    // Budgets go by the clock, which must not fall back: to a multiple of all that they count by.
    let next = NOW.get().as_secs() / 1000 + 1;
    NOW.set(Duration::from_secs(next * 1000));
    LATE.set(case.late);
    RANDOM.set(Random(case.seed));
    TOKIO.set(case.tokio);
    let of_tokio = || {
        (
            RUNTIME.with(|runtime| runtime.enter()),
            testing::seed(case.seed),
        )
    };
    (
        case.tokio.then(of_tokio),
        (!case.tokio).then(testing::virtual_time),
    )
}

/// Random numbers and waits that the case does not count, until what is answered is dropped.
pub(crate) fn uncounted() -> impl Sized {
    struct Restore(Random, Option<Duration>);
    impl Drop for Restore {
        fn drop(&mut self) {
            RANDOM.set(self.0);
            WAKE.set(self.1);
        }
    }
    (Restore(RANDOM.get(), WAKE.get()), testing::seed(0))
}

pub(crate) fn now() -> Duration {
    if TOKIO.get() {
        return Tokio.now().since(Timestamp::from_origin(Duration::ZERO));
    }
    NOW.get()
}

/// The clock of this thread. The virtual time of `testing`, by which deadlines travel, goes along.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Time;

impl Time {
    pub(crate) fn spend(time: Duration) {
        NOW.set(NOW.get() + time);
        testing::virtual_time().advance(time);
    }
}

impl Clock for Time {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(now())
    }

    fn random(&self) -> u64 {
        let mut random = RANDOM.get();
        let drawn = random.next();
        RANDOM.set(random);
        drawn
    }
}

impl BlockingTimer for Time {
    fn sleep(&self, time: Duration) {
        company::turn();
        Self::spend(time + LATE.get());
    }
}

impl Timer for Time {
    type Sleep = Nap;

    fn sleep(&self, time: Duration) -> Nap {
        Nap(NOW.get() + time + LATE.get())
    }
}

/// A wait until then.
#[derive(Debug)]
pub(crate) struct Nap(Duration);

impl Future for Nap {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if NOW.get() >= self.0 {
            return Poll::Ready(());
        }
        let others = WAKE.get().unwrap_or(Duration::MAX);
        WAKE.set(Some(others.min(self.0)));
        Poll::Pending
    }
}

/// An attempt that takes so long.
pub(crate) async fn pass(time: Duration) {
    if TOKIO.get() && !time.is_zero() {
        tokio::time::sleep(time).await;
    } else {
        Nap(NOW.get() + time).await;
    }
}

/// A future whose type does not matter.
pub(crate) type Driven<'f> = Pin<&'f mut dyn Future<Output = ()>>;

/// Whether a future was woken: by itself, for nobody else does.
#[derive(Default)]
struct Yielded(AtomicBool);

impl Wake for Yielded {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a future, and lets time pass where it waits; `None` where it would wait for ever.
pub(crate) fn drive<F: Future>(future: F) -> Option<F::Output> {
    let mut output = None;
    {
        let future = pin!(async { output = Some(future.await) });
        if company::is_here() {
            drive_alone(pin!(company::beside(future)));
        } else {
            drive_alone(future);
        }
    }
    output
}

/// It is compiled once, not for each future.
fn drive_alone(mut future: Driven<'_>) -> Option<()> {
    struct Nested(bool);
    impl Drop for Nested {
        fn drop(&mut self) {
            DRIVES.set(self.0);
        }
    }
    let is_nested = Nested(DRIVES.replace(true));
    if TOKIO.get() && is_nested.0 {
        // What a poll of another future drives waits for nothing.
        let polled = future.poll(&mut Context::from_waker(Waker::noop()));
        return polled.is_ready().then_some(());
    }
    if TOKIO.get() {
        let driven = async { tokio::time::timeout(Duration::from_secs(1 << 30), future).await };
        return RUNTIME.with(|runtime| runtime.block_on(driven).ok());
    }
    let yielded = Arc::new(Yielded::default());
    let waker = Waker::from(Arc::clone(&yielded));
    loop {
        WAKE.set(None);
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        if polled.is_ready() {
            return Some(());
        }
        if yielded.0.swap(false, Ordering::Relaxed) {
            continue;
        }
        Time::spend(WAKE.get()?.saturating_sub(NOW.get()));
    }
}
