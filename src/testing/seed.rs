//! Random numbers of a thread that are the same in each run.

use core::marker::PhantomData;
use std::cell::RefCell;

thread_local! {
    /// The states of the generators; the last one is in use.
    static SEEDS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Returns 64 bits of the seeded generator; `None` without one.
fn random() -> Option<u64> {
    let drawn = SEEDS.try_with(|seeds| seeds.try_borrow_mut().ok()?.last_mut().map(next));
    drawn.ok().flatten()
}

/// Returns the next number of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators), which is the same on every platform.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Seeds the random numbers of this thread with `number`, until the guard is dropped: the same
/// calls in the same order then have the same delays, on every platform.
///
/// Idempotency keys are drawn from these numbers, too. The seed does not concern other threads and
/// timers with a `random` of their own: an async test takes the current-thread runtime, as
/// `#[tokio::test]` does. Guards nest; dropping one ends the guards that were made after it.
///
/// # Examples
///
/// ```
/// use reattempt::testing;
/// use reattempt::timer::{Clock, ThreadTimer};
///
/// let numbers = || {
///     let _seeded = testing::seed(7);
///     (ThreadTimer.random(), ThreadTimer.random())
/// };
/// assert_eq!(numbers(), numbers());
/// ```
pub fn seed(number: u64) -> Seeded {
    reattempt_core::random::set_source(random);
    // A thread that has ended draws no numbers.
    let depth = SEEDS.try_with(|seeds| {
        let mut seeds = seeds.try_borrow_mut().ok()?;
        seeds.push(number);
        Some(seeds.len())
    });
    Seeded {
        depth: depth.ok().flatten().unwrap_or(usize::MAX),
        this_thread: PhantomData,
    }
}

/// Seeds random numbers until it is dropped. [`seed`] makes it.
#[must_use = "the numbers are seeded only until this is dropped; bind it: `let _seeded = ...`, for `let _ =` drops it at once"]
#[derive(Debug)]
pub struct Seeded {
    depth: usize,
    this_thread: PhantomData<*const ()>,
}

impl Drop for Seeded {
    fn drop(&mut self) {
        // The seed of a thread ends with the thread.
        let _ended = SEEDS.try_with(|seeds| {
            if let Ok(mut seeds) = seeds.try_borrow_mut() {
                seeds.truncate(self.depth.saturating_sub(1));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retry_runtime::timer::{Clock as _, ThreadTimer};

    fn three() -> [u64; 3] {
        core::array::from_fn(|_| ThreadTimer.random())
    }

    #[test]
    fn the_reference_numbers() {
        let _seeded = seed(1_234_567);
        // The test vector of the reference implementation.
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(three(), expected);
    }

    #[test]
    fn inner_seeds_come_and_go() {
        let outer = seed(1);
        let [first, second, third] = three();
        drop(outer);
        let outer = seed(1);
        assert_eq!(ThreadTimer.random(), first);
        {
            let _inner = seed(1);
            assert_eq!(ThreadTimer.random(), first);
        }
        assert_eq!(
            [ThreadTimer.random(), ThreadTimer.random()],
            [second, third]
        );
        let inner = seed(2);
        drop(outer);
        assert_eq!(random(), None);
        drop(inner);
        assert_ne!(three(), three());
    }
}
