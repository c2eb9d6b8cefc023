//! The operating system's clock, threads that sleep, and the random generator
//! of the thread.

use std::cell::RefCell;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::{Duration, Instant};

use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};

use super::{Blocking, Clock, Moment};

/// Sleeps by blocking the thread: the timer of sync functions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Threads;

impl Clock for Threads {
    fn now(&self) -> Moment {
        #[cfg(feature = "test-util")]
        if let Some(now) = crate::testing::virtual_now() {
            return now;
        }
        Instant::now().into()
    }

    fn shared(&self) -> Moment {
        crate::ambient::now()
    }

    #[cfg(not(feature = "tokio"))]
    fn travelling(&self, moment: Moment) -> Moment {
        moment
    }
}

impl Blocking for Threads {
    fn sleep(&self, duration: Duration) {
        #[cfg(feature = "test-util")]
        if crate::testing::sleep(duration) {
            return;
        }
        std::thread::sleep(duration);
    }
}

thread_local! {
    static GENERATOR: RefCell<SmallRng> = RefCell::new(seeded());
}

/// 64 random bits of this thread's generator. Out of line: it needs registers.
#[inline(never)]
pub(super) fn random() -> u64 {
    #[cfg(feature = "test-util")]
    if let Some(random) = crate::testing::random() {
        return random;
    }
    // Nothing of the user's runs while it is borrowed, so it never is already.
    let drawn = GENERATOR.try_with(|generator| {
        generator
            .try_borrow_mut()
            .map_or(0, |mut generator| generator.next_u64())
    });
    // In the last moments of a thread, where the platform has dropped it by then.
    drawn.unwrap_or_else(|_| seeded().next_u64())
}

/// The keys of a `HashMap` come from the operating system; that spares a crate.
#[cold]
fn seeded() -> SmallRng {
    SmallRng::seed_from_u64(RandomState::new().build_hasher().finish())
}
