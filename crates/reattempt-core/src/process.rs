//! The clock that all calls of a process share: deadlines travel by it, and budgets and breakers count by it.

use core::cell::Cell;
use core::time::Duration;
use std::sync::OnceLock;

use crate::platform::Instant;
use crate::time::Clock;
use crate::timestamp::Timestamp;
use crate::watch;

static VIRTUAL: OnceLock<TimeSource> = OnceLock::new();

/// Where threads whose time is virtual read it and sleep.
#[derive(Debug, Clone, Copy)]
pub struct TimeSource {
    /// Returns the time of this thread; `None` where it is real.
    pub now: fn() -> Option<Timestamp>,
    /// Sleeps in the time of this thread; returns `false` where it is real.
    pub sleep: fn(Duration) -> bool,
}

/// Sets the source of virtual time. The first one stays. It is the slot of `reattempt::testing`, which makes time virtual
/// on the thread of a test.
pub fn set_time_source(source: TimeSource) {
    VIRTUAL.get_or_init(|| {
        watch::set(watch::VIRTUAL_TIME);
        source
    });
}

/// Returns the source of virtual time. Every clock asks, and only tests have one.
#[inline(always)]
fn time_source() -> Option<&'static TimeSource> {
    if !watch::has_any(watch::VIRTUAL_TIME) {
        return None;
    }
    VIRTUAL.get()
}

// Only tests come here, so it is out of line.
impl TimeSource {
    #[cold]
    fn now(&self) -> Option<Timestamp> {
        (self.now)()
    }

    #[cold]
    fn sleep(&self, duration: Duration) -> bool {
        (self.sleep)(duration)
    }
}

/// Returns the virtual time of this thread; `None` outside of a test that asked for it.
#[inline]
pub fn virtual_now() -> Option<Timestamp> {
    time_source().and_then(TimeSource::now)
}

/// Sleeps in virtual time; returns `false` where the time of this thread is real.
pub fn virtual_sleep(duration: Duration) -> bool {
    time_source().is_some_and(|source| source.sleep(duration))
}

/// Returns whether this thread has virtual time.
#[inline]
pub fn is_virtual() -> bool {
    virtual_now().is_some()
}

/// Returns the time on the clock that calls share: virtual time in a test that asked for it, else tokio's, which a test may
/// pause, where there is tokio, else the operating system's.
pub fn now() -> Timestamp {
    if !watch::has_any(watch::VIRTUAL_TIME) {
        return real_now();
    }
    virtual_or_paused_now()
}

#[cold]
#[inline(never)]
fn virtual_or_paused_now() -> Timestamp {
    virtual_now().unwrap_or_else(paused_now)
}

/// Returns the time on tokio's clock.
#[cfg(all(feature = "tokio", not(target_os = "unknown")))]
pub fn tokio_now() -> Timestamp {
    match time_source() {
        Some(_) => paused_now(),
        None => real_now(),
    }
}

/// Returns the time on tokio's clock, else the operating system's. A paused clock is for tests: a program that is built for use
/// need not ask.
#[inline(always)]
fn real_now() -> Timestamp {
    if cfg!(debug_assertions) {
        return paused_now();
    }
    #[cfg(all(feature = "tokio", not(target_os = "unknown")))]
    return tokio::time::Instant::now().into_std().into();
    #[cfg(not(all(feature = "tokio", not(target_os = "unknown"))))]
    return Instant::now().into();
}

/// Returns the same where tokio's clock may be paused.
#[cold]
#[inline(never)]
fn paused_now() -> Timestamp {
    #[cfg(all(feature = "tokio", not(target_os = "unknown")))]
    if !is_thread_ending() {
        return tokio::time::Instant::now().into_std().into();
    }
    Instant::now().into()
}

/// Returns whether this thread is in its last moments, when its variables are dropped: tokio's paused clock cannot be read
/// any more then. Ours is dropped before that.
#[cfg(all(feature = "tokio", not(target_os = "unknown")))]
pub fn is_thread_ending() -> bool {
    struct Alive;

    impl Drop for Alive {
        fn drop(&mut self) {}
    }

    thread_local!(static ALIVE: Alive = {
        let _made_before = tokio::time::Instant::now();
        Alive
    });
    ALIVE.try_with(|_| ()).is_err()
}

/// Returns whether a test runs on this thread: its time is virtual, tokio's clock is paused, or the process has planned
/// faults.
pub fn is_test() -> bool {
    watch::has_any(watch::FAULTS) || is_virtual() || is_paused()
}

/// Returns whether tokio's clock stands still here, or did. A clock that runs is read between two readings of the
/// operating system's.
#[cfg(all(feature = "tokio", not(target_os = "unknown")))]
fn is_paused() -> bool {
    if is_thread_ending() {
        return false;
    }
    let before = Instant::now();
    let now = tokio::time::Instant::now().into_std();
    now < before || now > Instant::now()
}

#[cfg(not(all(feature = "tokio", not(target_os = "unknown"))))]
fn is_paused() -> bool {
    false
}

thread_local!(static LIMITS_RETRIES: Cell<bool> = const { Cell::new(false) });

/// Lets the budgets that operations have by default limit the retries of this thread although it runs a test, or not.
/// Returns how it was.
pub fn limit_retries(limits: bool) -> bool {
    LIMITS_RETRIES
        .try_with(|cell| cell.replace(limits))
        .unwrap_or(limits)
}

/// Returns whether they do.
pub fn limits_retries() -> bool {
    LIMITS_RETRIES.try_with(Cell::get).unwrap_or(false)
}

/// The clock of [`now`], for budgets and breakers where the caller gives no other.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessClock;

impl Clock for ProcessClock {
    #[inline]
    fn now(&self) -> Timestamp {
        now()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;
    use std::sync::Once;

    use super::*;

    thread_local! {
        /// The time of this thread, where it is virtual.
        static VIRTUAL_NOW: Cell<Option<Timestamp>> = const { Cell::new(None) };
    }

    /// So many seconds after the origin.
    pub(crate) fn at(second: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_secs(second))
    }

    /// Runs `f` in virtual time, which begins at this second.
    pub(crate) fn in_virtual_time(second: u64, f: impl FnOnce()) {
        static SET: Once = Once::new();
        SET.call_once(|| {
            assert!(!watch::has_any(watch::VIRTUAL_TIME));
            set_time_source(TimeSource {
                now: || VIRTUAL_NOW.get(),
                sleep: |duration| {
                    let now = VIRTUAL_NOW.get();
                    VIRTUAL_NOW.set(now.map(|now| now.after(duration)));
                    now.is_some()
                },
            });
        });
        assert!(watch::has_any(watch::VIRTUAL_TIME));
        VIRTUAL_NOW.set(Some(at(second)));
        f();
        // Another test may run on this thread.
        VIRTUAL_NOW.set(None);
    }

    #[test]
    fn time_is_virtual_where_a_test_has_asked_for_it() {
        in_virtual_time(7, || {
            assert_eq!((now(), virtual_now()), (at(7), Some(at(7))));
            assert!(is_virtual() && is_test());
            assert!(virtual_sleep(Duration::from_secs(2)));
            assert_eq!((now(), ProcessClock.now()), (at(9), at(9)));
        });
        assert!(now() > at(9) && virtual_now().is_none());
        assert!(!is_virtual() && !is_test() && !virtual_sleep(Duration::ZERO));
    }

    #[cfg(all(feature = "tokio", not(target_os = "unknown")))]
    #[tokio::test(start_paused = true)]
    async fn a_paused_clock_is_that_of_a_test() {
        assert!(is_test());
        tokio::time::advance(Duration::from_secs(3600)).await;
        assert!(is_test());
        tokio::time::resume();
        let before = tokio_now();
        assert!(before <= now());
    }

    #[test]
    fn the_default_budgets_limit_a_thread_that_asks_for_it() {
        assert!(!limits_retries() && !limit_retries(true));
        assert!(limits_retries() && limit_retries(false));
        assert!(!limits_retries());
    }
}
