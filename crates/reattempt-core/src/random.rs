//! Random numbers: a generator for each thread, and the operating system for what must be unique. In a browser or node it
//! is JavaScript, with the feature `wasm`.

use std::cell::Cell;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::OnceLock;

#[cfg(any(feature = "wasm", not(target_os = "unknown")))]
use rand::{TryRng as _, rngs::SysRng};

use crate::platform::Instant;
use crate::timestamp::Parts;
use crate::watch;

thread_local! {
    // Seeded where it is first drawn from, and 0 until then: a constant needs no test whether it is
    // there. A fork begins with a copy of its parent's.
    static GENERATOR: Cell<u64> = const { Cell::new(0) };
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
fn sourced() -> Option<u64> {
    if !watch::has_any(watch::SEED) {
        return None;
    }
    SOURCE.get().and_then(|source| source())
}

/// Returns 64 random bits of this thread's generator. Out of line: it needs registers.
#[inline(never)]
pub(crate) fn random() -> u64 {
    if !watch::has_any(watch::SEED) {
        return drawn();
    }
    sourced_or_drawn()
}

#[cold]
#[inline(never)]
fn sourced_or_drawn() -> u64 {
    sourced().unwrap_or_else(drawn)
}

fn drawn() -> u64 {
    // The last moments of a thread, where the platform has dropped the generator by then.
    GENERATOR.try_with(next).unwrap_or_else(|_| seed())
}

/// Returns what tells a fork from its parent: the nanoseconds at which it draws. To read the clock
/// is not a call of the system, and to ask for the number of the process is one.
#[inline(always)]
fn moment() -> u32 {
    if cfg!(unix) {
        Parts::of(Instant::now()).nanos
    } else {
        0
    }
}

/// Draws by wyrand, which is a sum and a product. The moment stays in the sum, so a fork that once
/// draws another number than its parent does not come back to the parent's numbers.
fn next(generator: &Cell<u64>) -> u64 {
    if generator.get() == 0 {
        generator.set(seed());
    }
    let moment = u64::from(moment());
    let state = (generator.get())
        .wrapping_add(0x2d35_8dcc_aa6c_78a5)
        .wrapping_add(moment);
    generator.set(state);
    mixed(state)
}

#[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
fn mixed(state: u64) -> u64 {
    let product = u128::from(state).wrapping_mul(u128::from(state ^ 0x8bb8_4b93_962e_acc9));
    (product >> 64) as u64 ^ product as u64
}

/// Returns a seed of the operating system, or of JavaScript.
#[cold]
#[inline(never)]
pub fn seed() -> u64 {
    #[cfg(any(feature = "wasm", not(target_os = "unknown")))]
    if let Ok(seed) = SysRng.try_next_u64() {
        return seed;
    }
    // The keys of a `HashMap` come from the operating system, too.
    RandomState::new().hash_one(0)
}

/// Returns 128 random bits of the operating system: no other call gets the same, in this process or in another, be it
/// a fork of it. The numbers of a test come from its seed.
///
/// # Panics
///
/// Where the operating system has no random numbers, as `HashMap::new` does.
#[cfg(any(feature = "wasm", not(target_os = "unknown")))]
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

    thread_local! {
        /// How many numbers of this thread are planned: they count down.
        static PLANNED: Cell<u64> = const { Cell::new(0) };
    }

    /// The source comes first, and where it has nothing all numbers are random.
    #[test]
    fn a_source_of_numbers_sets_its_bit() {
        assert!(!watch::has_any(watch::SEED));
        set_source(|| {
            let number = PLANNED.get();
            PLANNED.set(number.checked_sub(1)?);
            Some(number)
        });
        assert!(watch::has_any(watch::SEED));
        PLANNED.set(7);
        assert_eq!([random(), random()], [7, 6]);
        assert_eq!([unique(), unique()], [5 << 64 | 4, 3 << 64 | 2]);
        PLANNED.set(0);
        assert_ne!(random(), random());
        assert_ne!(unique(), unique());
        assert!(seed() != seed() && seed() > 0);
    }

    /// A fork begins with a copy of what its parent has in memory.
    #[test]
    fn the_children_of_a_process_draw_other_numbers() {
        random();
        let copied = GENERATOR.get();
        let mut numbers = Vec::new();
        for _process in 0..10 {
            GENERATOR.set(copied);
            numbers.extend([(); 3].map(|()| random()));
        }
        for (place, number) in numbers.iter().enumerate() {
            assert!(!numbers[..place].contains(number), "{numbers:?}");
        }
    }

    /// The numbers of wyrand for these states.
    #[test]
    fn a_number_is_that_of_wyrand() {
        let numbers = [1, u64::MAX, 0x2d35_8dcc_aa6c_78a5].map(mixed);
        assert_eq!(
            numbers,
            [
                0x8bb8_4b93_962e_acc8,
                0xffff_ffff_ffff_ffff,
                0x9a45_cd88_8d59_f0d6
            ]
        );
    }

    #[test]
    fn a_generator_is_seeded_once() {
        const STEP: u64 = 0x2d35_8dcc_aa6c_78a5;
        let moved = |from: u64| {
            let generator = Cell::new(from);
            next(&generator);
            generator.get().wrapping_sub(STEP).wrapping_sub(from)
        };
        // But for the moment, which is less than a second.
        assert!(moved(0) > 1_000_000_000 && moved(7) < 1_000_000_000);
    }

    /// Each bit is set in half of the numbers, and tells nothing of the other bits or of those of
    /// the next number.
    #[test]
    fn bits_are_even() {
        const NUMBERS: u32 = 1 << 14;
        let numbers: Vec<u64> = (0..NUMBERS).map(|_| random()).collect();
        // Eight standard deviations.
        let is_even = |count: u32| count.abs_diff(NUMBERS / 2) < NUMBERS / 32;
        for bit in 0..64 {
            let set = numbers.iter().filter(|number| *number >> bit & 1 == 1);
            assert!(is_even(u32::try_from(set.count()).expect("few")), "{bit}");
        }
        for (shift, lag) in (0..64).flat_map(|shift| [(shift, 0), (shift, 1)]).skip(1) {
            let pairs = numbers.iter().zip(&numbers[lag..]);
            let same: u32 = pairs
                .map(|(one, other)| (one ^ other.rotate_left(shift)).count_zeros())
                .sum();
            assert!(is_even(same / 64), "{shift}, {lag}");
        }
    }
}
