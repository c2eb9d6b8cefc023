//! The random generator of the thread.

use std::cell::RefCell;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::OnceLock;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng as _};

thread_local! {
    // Seeded where it is first drawn from: a constant needs no test whether it is there.
    static GENERATOR: RefCell<Option<SmallRng>> = const { RefCell::new(None) };
}

static SOURCE: OnceLock<fn() -> Option<u64>> = OnceLock::new();

/// Sets the function that is asked before the generator of the thread. The first one stays. It is the slot of
/// `reattempt::testing`, which makes the numbers of a test the same in each run.
pub fn set_source(source: fn() -> Option<u64>) {
    let _stays = SOURCE.set(source);
}

/// Returns 64 random bits of this thread's generator. Out of line: it needs registers.
#[inline(never)]
pub(crate) fn random() -> u64 {
    if let Some(random) = SOURCE.get().and_then(|source| source()) {
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
