//! Clocks and sleep: the timers of tokio, of smol, of threads, and the traits for your own.

use core::future::Future;
use core::time::Duration;

#[cfg(feature = "std")]
pub use crate::process::ProcessClock;
pub use crate::{Clock, Timestamp};

#[cfg(all(feature = "std", any(feature = "wasm", not(target_os = "unknown"))))]
mod default;
#[cfg(all(feature = "tokio", not(target_os = "unknown")))]
mod late;
#[cfg(all(feature = "tokio", not(target_os = "unknown")))]
mod on_tokio;
#[cfg(all(feature = "smol", not(target_os = "unknown")))]
mod smol;
#[cfg(all(
    feature = "std",
    any(test, not(feature = "smol")),
    not(target_os = "unknown")
))]
mod thread;
#[cfg(feature = "std")]
mod threads;
#[cfg(all(feature = "tokio", not(target_os = "unknown")))]
mod tokio;
mod unnamed;
#[cfg(all(feature = "wasm", target_os = "unknown"))]
mod web;

#[cfg(all(feature = "std", any(feature = "wasm", not(target_os = "unknown"))))]
pub use default::DefaultSleep;
/// Where a wait goes on without a runtime of tokio.
#[cfg(all(feature = "smol", not(target_os = "unknown")))]
use smol::Smol as Elsewhere;
#[cfg(all(feature = "smol", not(target_os = "unknown")))]
pub use smol::{Smol, SmolSleep};
#[cfg(all(feature = "std", not(feature = "smol"), not(target_os = "unknown")))]
use thread::TimerThread as Elsewhere;
#[cfg(feature = "std")]
pub use threads::ThreadTimer;
#[cfg(all(feature = "tokio", not(target_os = "unknown")))]
pub use tokio::Tokio;
#[cfg(any(not(feature = "std"), target_os = "unknown"))]
#[doc(hidden)]
pub use unnamed::NoTimer;
#[doc(hidden)]
pub use unnamed::{ASYNC_TIMER, AsyncDefault, BLOCKING_TIMER, BlockingDefault};
#[cfg(all(feature = "wasm", target_os = "unknown"))]
use web::Web as Elsewhere;

/// How an async function waits.
#[diagnostic::on_unimplemented(
    message = "an async function cannot wait with `{Self}`",
    label = "`Timer` is not implemented for it",
    note = "with the feature `std` of `reattempt` a call needs no `timer`; one that is given implements `reattempt::timer::Timer`",
    note = "rule type: https://reattempt.github.io/reattempt/errors.html#type"
)]
pub trait Timer: Clock {
    /// The future of [`sleep`](Self::sleep).
    type Sleep: Future<Output = ()>;

    /// A future that is ready after `duration`.
    ///
    /// # Cancel safety
    ///
    /// Dropping it ends the wait.
    fn sleep(&self, duration: Duration) -> Self::Sleep;
}

/// How a sync function waits.
#[cfg_attr(
    not(target_os = "unknown"),
    diagnostic::on_unimplemented(
        message = "a sync function cannot wait with `{Self}`",
        label = "`BlockingTimer` is not implemented for it",
        note = "with the feature `std` of `reattempt` a call needs no `timer`; one that is given implements `reattempt::timer::BlockingTimer`",
        note = "rule type: https://reattempt.github.io/reattempt/errors.html#type"
    )
)]
#[cfg_attr(
    target_os = "unknown",
    diagnostic::on_unimplemented(
        message = "a sync function cannot wait in a browser, where a thread cannot sleep",
        label = "it has no timer on `wasm32-unknown-unknown`",
        note = "make the function `async`, or give `timer = ...` a value that implements `reattempt::timer::BlockingTimer`",
        note = "rule type: https://reattempt.github.io/reattempt/errors.html#type"
    )
)]
pub trait BlockingTimer: Clock {
    /// Returns after `duration`.
    fn sleep(&self, duration: Duration);
}

impl<T: Timer + ?Sized> Timer for &T {
    type Sleep = T::Sleep;

    fn sleep(&self, duration: Duration) -> T::Sleep {
        (**self).sleep(duration)
    }
}

impl<T: BlockingTimer + ?Sized> BlockingTimer for &T {
    fn sleep(&self, duration: Duration) {
        (**self).sleep(duration);
    }
}

/// The timer of a call without the key `timer`: a sleeping thread in sync functions. In async
/// functions each wait uses the timer of tokio if the thread is in a runtime of tokio and the
/// feature `tokio` is on. Elsewhere it uses the timer of async-io with the feature `smol`, and else
/// a thread that wakes all such waits.
///
/// It goes on elsewhere, too, where the runtime of tokio has no timer (`enable_time`) or was shut
/// down; tokio's panic is printed, and caught. A runtime with one thread does not look at its timer
/// while that thread waits in the `block_on` of another library: a wait there ends at most 1 s
/// late.
#[derive(Debug, Clone, Copy, Default)]
pub struct DefaultTimer;

/// What says how a sync function waits: a timer, or [`DefaultTimer`].
#[cfg_attr(
    not(target_os = "unknown"),
    diagnostic::on_unimplemented(
        message = "a sync function cannot wait with `{Self}`",
        label = "the timer that was given here is not one",
        note = "drop `timer`: without one a call blocks its thread; a function such as `std::thread::sleep` is not a timer",
        note = "with the feature `std` of `reattempt` a call needs no `timer`; one that is given implements `reattempt::timer::BlockingTimer`",
        note = "rule type: https://reattempt.github.io/reattempt/errors.html#type"
    )
)]
#[cfg_attr(
    target_os = "unknown",
    diagnostic::on_unimplemented(
        message = "a sync function cannot wait in a browser, where a thread cannot sleep",
        label = "it has no timer on `wasm32-unknown-unknown`",
        note = "make the function `async`, or give `timer = ...` a value that implements `reattempt::timer::BlockingTimer`",
        note = "rule type: https://reattempt.github.io/reattempt/errors.html#type"
    )
)]
pub trait IntoBlockingTimer {
    /// The timer.
    type Timer: BlockingTimer;

    /// The timer.
    fn for_sync(self) -> Self::Timer;
}

/// What says how an async function waits: a timer, or [`DefaultTimer`].
#[diagnostic::on_unimplemented(
    message = "an async function cannot wait with `{Self}`",
    label = "the timer that was given here is not one",
    note = "drop `timer`: without one a call waits in its runtime; a function such as `tokio::time::sleep` is not a timer",
    note = "with the feature `std` of `reattempt` a call needs no `timer`; one that is given implements `reattempt::timer::Timer`",
    note = "rule type: https://reattempt.github.io/reattempt/errors.html#type"
)]
pub trait IntoTimer {
    /// The timer.
    type Timer: Timer;

    /// The timer.
    fn for_async(self) -> Self::Timer;
}

#[diagnostic::do_not_recommend]
impl<T: BlockingTimer> IntoBlockingTimer for T {
    type Timer = T;

    fn for_sync(self) -> T {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<T: Timer> IntoTimer for T {
    type Timer = T;

    fn for_async(self) -> T {
        self
    }
}

// In a browser no thread can sleep.
#[cfg(all(feature = "std", not(target_os = "unknown")))]
impl IntoBlockingTimer for DefaultTimer {
    type Timer = ThreadTimer;

    fn for_sync(self) -> ThreadTimer {
        ThreadTimer
    }
}

#[cfg(all(test, feature = "std", not(target_os = "unknown")))]
mod tests {
    use core::cell::Cell;
    use core::future::{Ready, ready};

    use super::*;
    use crate::process::tests::{at, in_virtual_time};

    /// Whether its own time is virtual, and that which calls share; whether deadlines travel by it.
    fn said(clock: impl Clock) -> [bool; 3] {
        let virtual_time = ..at(100);
        let times = [clock.now(), clock.shared()].map(|time| virtual_time.contains(&time));
        let [own, shared] = times;
        [own, shared, clock.carries_deadlines()]
    }

    /// What calls share is virtual time; an async call waits in that of its runtime.
    #[test]
    fn what_timers_say_of_their_time() {
        const HAS_TOKIO: bool = cfg!(feature = "tokio");
        assert_eq!(said(ThreadTimer), [false, false, !HAS_TOKIO]);
        assert_eq!(said(DefaultTimer), [false, false, true]);
        assert_eq!(said(ProcessClock), [false, false, false]);
        assert_eq!(said(thread::TimerThread), [false, false, true]);
        #[cfg(feature = "tokio")]
        assert_eq!(said(Tokio), [false, false, true]);
        #[cfg(feature = "smol")]
        assert_eq!(said(Smol), [false, false, !HAS_TOKIO]);
        in_virtual_time(7, || {
            assert_eq!(said(ThreadTimer), [true, true, !HAS_TOKIO]);
            assert_eq!(said(DefaultTimer), [false, true, false]);
            assert_eq!(said(ProcessClock), [true, true, false]);
            assert_eq!(said(thread::TimerThread), [false, true, false]);
            #[cfg(feature = "tokio")]
            assert_eq!(said(Tokio), [false, true, false]);
            #[cfg(feature = "smol")]
            assert_eq!(said(Smol), [false, true, false]);
            BlockingTimer::sleep(&DefaultTimer.for_sync(), Duration::from_secs(2));
            assert_eq!(ThreadTimer.now(), at(9));
        });
    }

    /// Its timer ends at whole milliseconds.
    #[cfg(feature = "tokio")]
    #[test]
    fn a_wait_in_a_runtime_of_tokio_may_end_later() {
        let slack = Duration::from_nanos(999_999);
        assert_eq!(
            [DefaultTimer.slack(), Tokio.slack()],
            [Duration::ZERO, slack]
        );
        let runtime = ::tokio::runtime::Builder::new_current_thread().build();
        let _entered = runtime.as_ref().expect("a runtime").enter();
        assert_eq!(DefaultTimer.slack(), slack);
    }

    #[cfg(feature = "smol")]
    #[test]
    fn a_wait_of_smol_is_not_over_at_once() {
        let mut context = core::task::Context::from_waker(core::task::Waker::noop());
        let mut is_over = |seconds| {
            let sleep = Box::pin(Smol.sleep(Duration::from_secs(seconds)));
            Future::poll(core::pin::pin!(sleep), &mut context).is_ready()
        };
        assert!(is_over(0) && !is_over(3600));
    }

    /// Notes how long it was to sleep.
    struct Notes(Cell<Duration>);

    impl Clock for Notes {
        fn now(&self) -> Timestamp {
            at(0)
        }
    }

    impl Timer for Notes {
        type Sleep = Ready<()>;

        fn sleep(&self, duration: Duration) -> Ready<()> {
            self.0.set(duration);
            ready(())
        }
    }

    impl BlockingTimer for Notes {
        fn sleep(&self, duration: Duration) {
            self.0.set(duration);
        }
    }

    #[test]
    fn a_reference_sleeps_as_the_timer_does() {
        let notes = Notes(Cell::default());
        let _ready = Timer::sleep(&(&notes).for_async(), Duration::from_secs(1));
        assert_eq!(notes.0.take(), Duration::from_secs(1));
        BlockingTimer::sleep(&(&notes).for_sync(), Duration::from_secs(2));
        assert_eq!(notes.0.take(), Duration::from_secs(2));
    }
}
