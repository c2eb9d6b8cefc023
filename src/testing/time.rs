//! The virtual clock of a thread, which moves only when code sleeps.

use core::marker::PhantomData;
use core::time::Duration;
use std::cell::Cell;

use reattempt_core::Timestamp;
use reattempt_core::process::{self, TimeSource, set_time_source};

#[derive(Clone, Copy)]
struct Virtual {
    now: Timestamp,
    guards: usize,
}

thread_local! {
    static CLOCK: Cell<Option<Virtual>> = const { Cell::new(None) };
}

fn clock() -> Option<Virtual> {
    CLOCK.try_with(Cell::get).ok().flatten()
}

fn set(clock: Option<Virtual>) {
    // The time of a thread ends with the thread.
    let _ended = CLOCK.try_with(|now| now.set(clock));
}

/// Returns the time of this thread's virtual clock; `None` without one.
fn virtual_now() -> Option<Timestamp> {
    clock().map(|clock| clock.now)
}

/// Sleeps on the virtual clock; returns `false` without one.
fn sleep(duration: Duration) -> bool {
    let Some(clock) = clock() else {
        return false;
    };
    let now = clock.now.after(duration);
    set(Some(Virtual { now, ..clock }));
    true
}

/// Makes the time of sync functions on this thread virtual, until the guard is dropped:
/// [`ThreadTimer`](retry_runtime::timer::ThreadTimer) neither reads the real clock nor blocks, and
/// a delay moves the virtual clock instead.
///
/// Deadlines follow the virtual clock, also those of [`deadline`](retry_runtime::deadline). Guards
/// nest and share one clock; a fake that takes two seconds calls
/// `virtual_time().advance(Duration::from_secs(2))`. Virtual time does not concern other threads,
/// timers of your own and `std::thread::sleep`.
///
/// Async functions use tokio's paused clock instead: `#[tokio::test(start_paused = true)]`. Don't
/// mix the two: under this guard deadlines of [`deadline`](retry_runtime::deadline) do not move
/// while tokio's clock does.
///
/// # Examples
///
/// ```
/// use reattempt::{Policy, testing};
/// use std::io::{Error, ErrorKind};
/// use std::time::Duration;
///
/// const SLOW: Policy = Policy::new().jitter(reattempt::Jitter::None).base(Duration::from_secs(5));
///
/// let time = testing::virtual_time();
/// let answer: Result<(), _> = SLOW.run(|| Err(Error::from(ErrorKind::TimedOut)));
/// assert!(answer.is_err());
/// assert_eq!(time.elapsed(), Duration::from_secs(5 + 10));
/// ```
pub fn virtual_time() -> VirtualTime {
    set_time_source(TimeSource {
        now: virtual_now,
        sleep,
    });
    // It starts at the current time, so that inherited deadlines keep their meaning.
    let clock = clock().unwrap_or_else(|| Virtual {
        now: process::now(),
        guards: 0,
    });
    set(Some(Virtual {
        guards: clock.guards.saturating_add(1),
        ..clock
    }));
    VirtualTime {
        start: clock.now,
        this_thread: PhantomData,
    }
}

/// Keeps the time virtual until it is dropped. [`virtual_time`] makes it.
#[must_use = "time is virtual only until this is dropped; bind it: `let _time = ...`, for `let _ =` drops it at once"]
#[derive(Debug)]
pub struct VirtualTime {
    start: Timestamp,
    this_thread: PhantomData<*const ()>,
}

impl VirtualTime {
    /// Returns the virtual time since this guard was made.
    pub fn elapsed(&self) -> Duration {
        virtual_now().map_or(Duration::ZERO, |now| now.since(self.start))
    }

    /// Moves the clock by `duration`, as if a call had taken so long.
    ///
    /// # Units and ranges
    ///
    /// 0 changes nothing; the clock stops at its end, some centuries ahead.
    pub fn advance(&self, duration: Duration) {
        sleep(duration);
    }
}

impl Drop for VirtualTime {
    fn drop(&mut self) {
        set(clock().and_then(|clock| {
            let guards = clock.guards.saturating_sub(1);
            (guards > 0).then_some(Virtual { guards, ..clock })
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retry_runtime::timer::{BlockingTimer as _, Clock as _, ThreadTimer};

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn sleeping_moves_the_clock_and_nothing_else_does() {
        let time = virtual_time();
        let start = ThreadTimer.now();
        assert_eq!(ThreadTimer.now(), start);
        ThreadTimer.sleep(HOUR);
        time.advance(HOUR);
        assert_eq!(ThreadTimer.now().since(start), 2 * HOUR);
        assert_eq!(process::now(), ThreadTimer.now());
        assert_eq!(time.elapsed(), 2 * HOUR);
        drop(time);
        assert_eq!(virtual_now(), None);
    }

    #[test]
    fn guards_share_the_clock_in_any_order() {
        let outer = virtual_time();
        outer.advance(HOUR);
        let inner = virtual_time();
        inner.advance(HOUR);
        assert_eq!((outer.elapsed(), inner.elapsed()), (2 * HOUR, HOUR));
        drop(outer);
        ThreadTimer.sleep(HOUR);
        assert_eq!(inner.elapsed(), 2 * HOUR);
        drop(inner);
        assert_eq!(virtual_now(), None);
    }
}
