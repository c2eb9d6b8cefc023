//! Random numbers: a generator for each thread, and the operating system for what must be unique.

use std::cell::RefCell;
use std::hash::{BuildHasher as _, RandomState};
use std::process;
use std::sync::OnceLock;

use rand::rngs::SmallRng;
use rand::{Rng as _, SeedableRng as _};
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
use rand::{TryRng as _, rngs::SysRng};

use crate::watch;

thread_local! {
    // Seeded where it is first drawn from: a constant needs no test whether it is there.
    static GENERATOR: RefCell<Option<Generator>> = const { RefCell::new(None) };
}

static SOURCE: OnceLock<fn() -> Option<u64>> = OnceLock::new();

/// Sets the function that is asked before the generator of the thread. The first one stays. It is the slot of
/// `reattempt::testing`, which makes the numbers of a test the same in each run.
pub fn set_source(source: fn() -> Option<u64>) {
    SOURCE.get_or_init(|| {
        watch::set(watch::SEED);
        source
    });
}

/// Returns a number of the source that was set, where it has one.
#[inline(always)]
fn sourced() -> Option<u64> {
    if watch::bits() & watch::SEED == 0 {
        return None;
    }
    SOURCE.get().and_then(|source| source())
}

/// Returns 64 random bits of this thread's generator. Out of line: it needs registers.
#[inline(never)]
pub(crate) fn random() -> u64 {
    if let Some(random) = sourced() {
        return random;
    }
    let process = process::id();
    // Nothing of the user's runs while it is borrowed, so it never is already.
    let drawn = GENERATOR.try_with(|kept| Some(draw(&mut *kept.try_borrow_mut().ok()?, process)));
    match drawn {
        Ok(Some(random)) => random,
        // The last moments of a thread, where the platform has dropped the generator by then.
        _ => draw(&mut None, process),
    }
}

/// Draws from a generator, which is seeded in its first call in a process.
fn draw(kept: &mut Option<Generator>, process: u32) -> u64 {
    match kept {
        Some(generator) if generator.process == process => generator.numbers.next_u64(),
        _ => kept.insert(Generator::seeded(process)).numbers.next_u64(),
    }
}

/// The generator of a thread, and the process that seeded it: a fork begins with a copy of its parent's.
#[derive(Clone)]
struct Generator {
    numbers: SmallRng,
    process: u32,
}

impl Generator {
    #[cold]
    fn seeded(process: u32) -> Self {
        #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
        if let Ok(numbers) = SmallRng::try_from_rng(&mut SysRng) {
            return Self { numbers, process };
        }
        // The keys of a `HashMap` come from the operating system, too, but a fork has those of its parent.
        let seed = RandomState::new().hash_one(process);
        Self {
            numbers: SmallRng::seed_from_u64(seed),
            process,
        }
    }
}

/// Returns 128 random bits of the operating system: no other call gets the same, in this process or in another, be it
/// a fork of it. The numbers of a test come from its seed.
///
/// # Panics
///
/// Where the operating system has no random numbers, as `HashMap::new` does.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub fn unique() -> u128 {
    if let (Some(high), Some(low)) = (sourced(), sourced()) {
        return u128::from(high) << 64 | u128::from(low);
    }
    let mut bytes = [0; 16];
    #[expect(
        clippy::expect_used,
        reason = "a key that is not unique would lose a payment"
    )]
    SysRng
        .try_fill_bytes(&mut bytes)
        .expect("the operating system gives random numbers");
    u128::from_ne_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three(kept: &mut Option<Generator>, process: u32) -> [u64; 3] {
        core::array::from_fn(|_| draw(kept, process))
    }

    #[test]
    fn a_source_of_numbers_sets_its_bit() {
        assert_eq!(watch::bits() & watch::SEED, 0);
        set_source(|| None);
        assert_ne!(watch::bits() & watch::SEED, 0);
    }

    /// A fork begins with a copy of what its parent has in memory.
    #[test]
    fn the_children_of_a_process_draw_other_numbers() {
        let mut parent = None;
        three(&mut parent, 1);
        let (mut first, mut second, mut thread) = (parent.clone(), parent.clone(), parent.clone());
        let numbers = three(&mut parent, 1);
        assert_eq!(three(&mut thread, 1), numbers);
        let (first, second) = (three(&mut first, 2), three(&mut second, 3));
        assert_ne!(first, numbers);
        assert_ne!(second, numbers);
        assert_ne!(first, second);
    }
}
