//! Virtual time: that of tokio in a runtime of tokio, and elsewhere that of `testing`, which goes
//! on when all tasks wait.

use std::cell::{Cell, RefCell};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_executor::LocalExecutor;
use futures::FutureExt as _;
use reattempt::testing;
use reattempt::timer::{BlockingTimer, Clock, DefaultTimer, ThreadTimer, Timer, Timestamp, Tokio};
use tokio::runtime::{Builder, Handle};
use tokio::task::LocalSet;

/// A future that stays on its thread.
pub(crate) type Local<T> = Pin<Box<dyn Future<Output = T>>>;

pub(crate) type Executor = Rc<LocalExecutor<'static>>;

thread_local! {
    /// Who waits until then outside of tokio.
    static WAITING: RefCell<Vec<(Timestamp, Waker)>> = const { RefCell::new(Vec::new()) };
    /// How much later than asked a delay ends.
    static LATE: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn is_tokio() -> bool {
    Handle::try_current().is_ok()
}

/// The timer of all delays that the key `timer` names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Time;

impl Time {
    /// Lets all later delays of this thread end so much later than asked.
    pub(crate) fn set_late(late: Duration) {
        LATE.set(late);
    }
}

impl Clock for Time {
    fn now(&self) -> Timestamp {
        if is_tokio() {
            Tokio.now()
        } else {
            ThreadTimer.now()
        }
    }
}

impl Timer for Time {
    type Sleep = Local<()>;

    fn sleep(&self, duration: Duration) -> Self::Sleep {
        let duration = duration + LATE.get();
        if is_tokio() {
            Box::pin(tokio::time::sleep(duration))
        } else {
            Box::pin(Nap(ThreadTimer.now().after(duration)))
        }
    }
}

/// A blocked thread has no part in the time of tokio.
impl BlockingTimer for Time {
    fn sleep(&self, duration: Duration) {
        if !is_tokio() {
            ThreadTimer.sleep(duration + LATE.get());
        }
    }
}

struct Nap(Timestamp);

impl Future for Nap {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if ThreadTimer.now() >= self.0 {
            return Poll::Ready(());
        }
        let waiting = (self.0, context.waker().clone());
        WAITING.with_borrow_mut(|all| all.push(waiting));
        Poll::Pending
    }
}

/// Lets a body take its time.
pub(crate) async fn pass(duration: Duration) {
    if is_tokio() {
        tokio::time::sleep(duration).await;
    } else {
        Nap(ThreadTimer.now().after(duration)).await;
    }
}

/// Up to `most`, drawn by the seed of the test.
pub(crate) fn at_most(most: Duration) -> Duration {
    // 32 bits of it, of which every `f64` has room.
    let drawn = u32::try_from(DefaultTimer.random() >> 32).unwrap_or(0);
    most.mul_f64(f64::from(drawn) / f64::from(u32::MAX))
}

/// Below `end`, drawn by the seed of the test.
pub(crate) fn below(end: usize) -> usize {
    usize::try_from(DefaultTimer.random() % (end as u64)).unwrap_or(0)
}

/// Seeds all delays and latencies of this thread anew, and prints how to repeat them.
pub(crate) fn seed() -> impl Sized {
    let drawn = RandomState::new().build_hasher().finish();
    let given = std::env::var("REATTEMPT_SEED").ok();
    let seed = given.map_or(drawn, |seed| seed.parse().expect("REATTEMPT_SEED"));
    println!("REATTEMPT_SEED={seed}");
    testing::seed(seed)
}

/// Runs a future as a task of tokio, whose clock stands still until all tasks wait.
pub(crate) fn on_tokio<T: 'static>(future: impl Future<Output = T> + 'static) -> T {
    let mut runtime = Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build();
    let task = async { tokio::task::spawn_local(future).await };
    let ended = LocalSet::new().block_on(&runtime.expect("a runtime"), task);
    ended.expect("no panic")
}

/// Runs a future as a task of an executor without tokio, beside the tasks that it spawns there.
/// Time goes on when all of them wait.
pub(crate) fn on_executor<T: 'static>(future: impl FnOnce(Executor) -> Local<T>) -> T {
    let time = testing::virtual_time();
    WAITING.take();
    let executor = Executor::default();
    let main = executor.spawn(future(Rc::clone(&executor)));
    loop {
        while executor.try_tick() {}
        if main.is_finished() {
            return main.now_or_never().expect("it is finished");
        }
        let next = WAITING.with_borrow(|all| all.iter().map(|(end, _)| *end).min());
        time.advance(next.expect("somebody waits").since(ThreadTimer.now()));
        let is_over = |(end, _): &mut (Timestamp, Waker)| *end <= ThreadTimer.now();
        let over: Vec<_> = WAITING.with_borrow_mut(|all| all.extract_if(.., is_over).collect());
        for (_, waker) in over {
            waker.wake();
        }
    }
}
