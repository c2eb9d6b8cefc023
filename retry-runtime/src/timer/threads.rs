//! The operating system's clock, threads that sleep, and the random generator
//! of the thread.

use std::cell::RefCell;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::{Duration, Instant};

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng as _};

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
    // Seeded where it is first drawn from: a constant needs no test whether it is there.
    static GENERATOR: RefCell<Option<SmallRng>> = const { RefCell::new(None) };
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
        let mut generator = generator.try_borrow_mut().ok()?;
        generator.as_mut().map(Rng::next_u64)
    });
    match drawn {
        Ok(Some(random)) => random,
        _ => first(),
    }
}

/// The first of a thread, and those of its last moments, where the platform has dropped the generator by then.
#[cold]
#[inline(never)]
fn first() -> u64 {
    let mut generator = seeded();
    let random = generator.next_u64();
    let _kept = GENERATOR.try_with(|kept| {
        if let Ok(mut kept) = kept.try_borrow_mut() {
            *kept = Some(generator);
        }
    });
    random
}

/// The keys of a `HashMap` come from the operating system; that spares a crate.
fn seeded() -> SmallRng {
    SmallRng::seed_from_u64(RandomState::new().build_hasher().finish())
}
