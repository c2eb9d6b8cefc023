//! How many processes call this one, and the name of this one where it calls.
//!
//! Each caller sets a bit, by the hash of its name, and the number of bits says how many callers there are. So what is
//! remembered is bounded, and no request waits for another.
//!
//! # Source
//!
//! Whang, Vander-Zanden and Taylor, "A Linear-Time Probabilistic Counting Algorithm for Database Applications", 1990.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use reattempt_core::platform::process_id;
use reattempt_core::random::seed;
use retry_runtime::timer::{Clock as _, ProcessClock, Timestamp};

/// Drawn for each process: no peer can choose a bit, and no two processes have a name.
static DRAWN: LazyLock<u64> = LazyLock::new(seed);

/// Returns a number for `value` that another process does not have.
fn number(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    (*DRAWN, value).hash(&mut hasher);
    hasher.finish()
}

/// Returns the name of this process. A child of a fork has another one.
pub(super) fn own_name() -> Box<str> {
    format!("{:016x}", number(process_id())).into()
}

/// Counts a caller, and returns how many there have been in this minute and the one before; `None` in the first one or two
/// minutes, in which some have not called yet.
pub(super) fn count(name: &str) -> Option<u32> {
    static CALLERS: Callers = Callers::new();
    CALLERS.count(number(name), ProcessClock.now())
}

/// In nanoseconds.
const MINUTE: u64 = 60_000_000_000;

/// Of a minute, 64 bits each: of 100 callers one shares its bit with another, of 10,000 the number is right by a fiftieth, and above
/// 37,000 it does not grow.
const WORDS: u16 = 64;

struct Callers {
    minutes: [Minute; 2],
    /// In which it began to count.
    first: AtomicU64,
}

/// No minute.
const NEVER: u64 = u64::MAX;

struct Minute {
    number: AtomicU64,
    bits: [AtomicU64; WORDS as usize],
}

impl Callers {
    const fn new() -> Self {
        Self {
            minutes: [const { Minute::new() }; 2],
            first: AtomicU64::new(NEVER),
        }
    }

    // Relaxed: a caller that comes while another one begins the minute may be forgotten until it calls again.
    fn count(&self, hash: u64, now: Timestamp) -> Option<u32> {
        let minute = now.as_nanos() / MINUTE;
        let [even, odd] = &self.minutes;
        let (this, last) = if minute.is_multiple_of(2) {
            (even, odd)
        } else {
            (odd, even)
        };
        this.begin(minute);
        this.set(hash);
        let follows = last.number.load(Ordering::Relaxed).checked_add(1) == Some(minute);
        let both = this.bits.iter().zip(&last.bits);
        let set = both.map(|(this, last)| {
            let last = last.load(Ordering::Relaxed) & if follows { u64::MAX } else { 0 };
            (this.load(Ordering::Relaxed) | last).count_ones()
        });
        let set = set.sum();
        self.has_counted_a_minute(minute).then(|| estimate(set))
    }

    /// Whether a whole minute lies behind the one in which it began.
    fn has_counted_a_minute(&self, minute: u64) -> bool {
        let first = self.first.load(Ordering::Relaxed);
        if first == NEVER {
            self.first.store(minute, Ordering::Relaxed);
        }
        first.checked_add(1).is_some_and(|whole| minute > whole)
    }
}

impl Minute {
    const fn new() -> Self {
        Self {
            number: AtomicU64::new(NEVER),
            bits: [const { AtomicU64::new(0) }; WORDS as usize],
        }
    }

    /// Forgets what is older.
    fn begin(&self, minute: u64) {
        if self.number.load(Ordering::Relaxed) != minute
            && self.number.swap(minute, Ordering::Relaxed) != minute
        {
            for bits in &self.bits {
                bits.store(0, Ordering::Relaxed);
            }
        }
    }

    fn set(&self, hash: u64) {
        let [low, high, ..] = hash.to_le_bytes();
        if let Some(bits) = self.bits.get(usize::from(high % 64)) {
            bits.fetch_or(1 << (low % 64), Ordering::Relaxed);
        }
    }
}

/// Returns how many callers set so many bits, in the mean; at least 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number below 40,000"
)]
fn estimate(set: u32) -> u32 {
    let all = f64::from(WORDS) * 64.0;
    let free = (all - f64::from(set)).max(0.5);
    (all * (all / free).ln()).round().max(1.0) as u32
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher as _, RandomState};
    use std::ops::Range;

    use super::*;

    /// A time in a minute, another one for each name.
    fn during(minute: u64, name: u32) -> Timestamp {
        Timestamp::from_nanos(minute * MINUTE + u64::from(name) * 1_001_000_007 % MINUTE)
    }

    /// Counts callers of these names, each of them in each of the minutes.
    fn counted(callers: &Callers, names: Range<u32>, minutes: Range<u64>) -> Option<u32> {
        let hashes = RandomState::new();
        let mut last = None;
        for minute in minutes {
            for name in names.clone() {
                last = callers.count(hashes.hash_one(name), during(minute, name));
            }
        }
        last
    }

    #[test]
    fn a_number_tells_values_apart() {
        assert_eq!(number("a"), number("a"));
        assert_ne!(number("a"), number("b"));
    }

    /// The time stands still but for what the test lets pass.
    #[tokio::test(start_paused = true)]
    async fn callers_of_this_process_are_counted() {
        assert_eq!(count("a"), None);
        tokio::time::advance(std::time::Duration::from_secs(240)).await;
        assert_eq!(count("b"), Some(1));
        assert_eq!(count("c"), Some(2));
        assert_eq!(count("b"), Some(2));
    }

    /// In the mean: with 10,000 callers, one number of three is more than 181 away.
    #[test]
    fn different_callers_are_counted() {
        for (names, least, most) in [
            (1, 1, 1),
            (10, 9, 11),
            (100, 97, 103),
            (10_000, 9_700, 10_300),
        ] {
            let counts = (0..50).map(|_| counted(&Callers::new(), 0..names, 7..10));
            let all: u32 = counts
                .map(|count| count.expect("two minutes are over"))
                .sum();
            let mean = all / 50;
            assert!((least..=most).contains(&mean), "{names}: {mean}");
        }
    }

    /// A service that has begun a moment ago has not seen all: what callers know from before counts.
    #[test]
    fn a_young_service_says_nothing() {
        for first in 0..3 {
            let callers = Callers::new();
            assert_eq!(counted(&callers, 0..100, first..first + 2), None);
            assert!(callers.count(1, during(first + 2, 0)) >= Some(80));
        }
    }

    #[test]
    fn a_caller_is_remembered_for_a_minute_or_two() {
        let callers = Callers::new();
        counted(&callers, 0..50, 5..8);
        assert!((Some(35)..=Some(65)).contains(&callers.count(1, during(8, 59))));
        assert_eq!(callers.count(1, during(9, 1)), Some(1));
        assert_eq!(callers.count(2, during(12, 0)), Some(1));
    }

    /// However many names a peer makes up.
    #[test]
    fn the_number_is_bounded() {
        let count = counted(&Callers::new(), 0..300_000, 0..3);
        assert!((Some(30_000)..Some(40_000)).contains(&count), "{count:?}");
    }

    #[test]
    fn a_name_is_one_part_of_a_path() {
        let name = own_name();
        assert_eq!((&name, name.len()), (&own_name(), 16));
        assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    }
}
