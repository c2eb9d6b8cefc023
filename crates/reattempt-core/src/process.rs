//! The clock that all calls of a process share: deadlines travel by it, and budgets and breakers count by it.

use std::sync::OnceLock;

use crate::time::{Clock, Timestamp};

static VIRTUAL: OnceLock<fn() -> Option<Timestamp>> = OnceLock::new();

/// Sets the function that is asked before the real clock. The first one stays. It is the slot of `reattempt::testing`,
/// which makes time virtual on the thread of a test.
pub fn set_virtual_clock(now: fn() -> Option<Timestamp>) {
    let _stays = VIRTUAL.set(now);
}

/// Returns the virtual time of this thread; `None` outside of a test that asked for it.
#[inline]
pub fn virtual_now() -> Option<Timestamp> {
    VIRTUAL.get().and_then(|now| now())
}

/// Returns whether this thread has virtual time.
#[inline]
pub fn is_virtual() -> bool {
    virtual_now().is_some()
}

/// Returns the time on the clock that calls share: virtual time in a test that asked for it, else tokio's, which a test may
/// pause, where there is tokio, else the operating system's.
pub fn now() -> Timestamp {
    if let Some(now) = virtual_now() {
        return now;
    }
    #[cfg(feature = "tokio")]
    return tokio_now();
    #[cfg(not(feature = "tokio"))]
    return std::time::Instant::now().into();
}

/// Returns the time on tokio's clock.
#[cfg(feature = "tokio")]
pub fn tokio_now() -> Timestamp {
    // A paused clock is for tests: what is built for use need not ask.
    #[cfg(any(debug_assertions, feature = "test-util"))]
    if is_thread_ending() {
        return std::time::Instant::now().into();
    }
    tokio::time::Instant::now().into_std().into()
}

/// Returns whether this thread is in its last moments, when its variables are dropped: tokio's paused clock cannot be read
/// any more then. Ours is dropped before that.
#[cfg(feature = "tokio")]
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

/// The clock of [`now`], for budgets and breakers where the caller gives no other.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessClock;

impl Clock for ProcessClock {
    #[inline]
    fn now(&self) -> Timestamp {
        now()
    }
}
