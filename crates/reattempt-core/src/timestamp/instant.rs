//! The timestamps of the platform's instants.
//!
//! `std` shows an instant only by its distance from another one, and takes 40 instructions for it.
//! To a hasher it shows its two numbers, which takes none.

use super::{Timestamp, saturated};
use crate::platform::Instant;
use core::hash::{Hash as _, Hasher};
use core::time::Duration;
use std::sync::OnceLock;

static ORIGIN: OnceLock<Origin> = OnceLock::new();

/// A point in time on the operating system's monotonic clock.
impl From<Instant> for Timestamp {
    #[inline(always)]
    fn from(instant: Instant) -> Self {
        match ORIGIN.get() {
            Some(origin) => origin.timestamp(instant),
            None => first(instant),
        }
    }
}

#[cold]
#[inline(never)]
fn first(instant: Instant) -> Timestamp {
    let origin = ORIGIN.get_or_init(|| Origin::new(Instant::now()));
    origin.timestamp(instant)
}

/// The timestamp of the origin, 36 years: a paused clock may show an earlier time than the first that was
/// asked for. The bounds of a call end at 292.
const BEFORE: u64 = 1 << 60;

/// The first instant that was asked for.
struct Origin {
    instant: Instant,
    /// `None` where the parts of an instant are not what they are taken for.
    second: Option<Second>,
}

/// The second in which the origin lies.
struct Second {
    number: u64,
    timestamp: u64,
}

impl Origin {
    fn new(instant: Instant) -> Self {
        let parts = Parts::of(instant);
        let mut origin = Self {
            instant,
            second: Some(Second {
                number: parts.seconds,
                timestamp: BEFORE.saturating_sub(parts.nanos.into()),
            }),
        };
        // What an instant shows to a hasher is not documented, so the distance has to agree.
        let agree = [0, 1, 999_999_999, 1_000_000_000].into_iter().all(|nanos| {
            let later = instant.checked_add(Duration::from_nanos(nanos));
            later.is_some_and(|later| origin.by_parts(later) == Some(origin.by_distance(later)))
        });
        if !agree {
            origin.second = None;
        }
        origin
    }

    #[inline(always)]
    fn timestamp(&self, instant: Instant) -> Timestamp {
        match self.by_parts(instant) {
            Some(timestamp) => timestamp,
            None => self.by_distance(instant),
        }
    }

    /// Returns the timestamp of an instant in the 136 years after the origin.
    #[inline(always)]
    fn by_parts(&self, instant: Instant) -> Option<Timestamp> {
        let (second, parts) = (self.second.as_ref()?, Parts::of(instant));
        let seconds = parts.seconds.wrapping_sub(second.number);
        if seconds > u64::from(u32::MAX) {
            return None;
        }
        // Nothing wraps in that time.
        let since = (seconds.wrapping_mul(1_000_000_000)).wrapping_add(parts.nanos.into());
        Some(Timestamp(second.timestamp.wrapping_add(since)))
    }

    /// Returns the timestamp of any instant.
    #[cold]
    #[inline(never)]
    fn by_distance(&self, instant: Instant) -> Timestamp {
        if let Some(later) = instant.checked_duration_since(self.instant) {
            return Timestamp(BEFORE).after(later);
        }
        let earlier = self.instant.duration_since(instant);
        Timestamp(BEFORE.saturating_sub(saturated(earlier)))
    }
}

/// The seconds and the nanoseconds of an instant, in the order in which it hashes itself.
#[derive(Default)]
pub(crate) struct Parts {
    seconds: u64,
    pub(crate) nanos: u32,
}

impl Parts {
    #[inline(always)]
    pub(crate) fn of(instant: Instant) -> Self {
        let mut parts = Self::default();
        instant.hash(&mut parts);
        parts
    }
}

impl Hasher for Parts {
    #[inline(always)]
    fn write_i64(&mut self, seconds: i64) {
        self.seconds = seconds.cast_unsigned();
    }

    // The seconds of Windows have no sign.
    #[inline(always)]
    fn write_u64(&mut self, seconds: u64) {
        self.seconds = seconds;
    }

    #[inline(always)]
    fn write_u32(&mut self, nanos: u32) {
        self.nanos = nanos;
    }

    // Not the parts that are known: without them the distance disagrees.
    fn write(&mut self, _: &[u8]) {}

    fn finish(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{RngExt as _, SeedableRng as _};

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn parts_are_known_here() {
        assert!(Origin::new(Instant::now()).second.is_some());
    }

    /// The seconds of Windows have no sign.
    #[test]
    fn parts_are_what_an_instant_writes() {
        let mut parts = Parts::default();
        parts.write_i64(7);
        parts.write_u32(8);
        assert_eq!((parts.seconds, parts.nanos), (7, 8));
        parts.write_u64(9);
        assert_eq!((parts.seconds, parts.nanos), (9, 8));
    }

    #[test]
    fn where_parts_are_unknown_the_distance_is_asked() {
        let instant = Instant::now();
        let mut origin = Origin::new(instant);
        origin.second = None;
        assert_eq!(origin.timestamp(instant), Timestamp(BEFORE));
    }

    /// The numbers of an instant are enough for 136 years after the origin.
    #[test]
    fn parts_are_asked_for_as_long_as_nothing_wraps() {
        let origin = Origin::new(Instant::now());
        let by_parts = |seconds| {
            let instant = origin.instant.checked_add(Duration::from_secs(seconds));
            instant.map(|instant| origin.by_parts(instant).is_some())
        };
        assert_eq!(by_parts(u32::MAX.into()), Some(true));
        assert_eq!(by_parts(1 << 32), Some(false));
    }

    /// Random distances of every size, in both directions, with origins everywhere in a second.
    #[test]
    fn parts_and_distances_agree() {
        let seed = crate::random::random();
        println!("seed {seed}");
        let mut random = SmallRng::seed_from_u64(seed);
        for _ in 0..20_000 {
            let start = Duration::from_nanos(random.random_range(0..SECOND));
            let origin = Origin::new(Instant::now() + start);
            let distance =
                Duration::from_nanos(random.random::<u64>() >> random.random_range(0..64));
            let sides = [
                origin.instant.checked_add(distance),
                origin.instant.checked_sub(distance),
            ];
            for instant in sides.into_iter().flatten() {
                let timestamp = origin.timestamp(instant);
                assert_eq!(
                    timestamp,
                    origin.by_distance(instant),
                    "{distance:?}, seed {seed}"
                );
            }
        }
    }

    /// An instant may lie as far away as seconds can be counted.
    #[test]
    fn far_instants_saturate() {
        let origin = Origin::new(Instant::now());
        for shift in 0..64 {
            let far = Duration::from_secs(u64::MAX >> shift);
            if let Some(instant) = origin.instant.checked_add(far) {
                assert_eq!(origin.timestamp(instant), Timestamp(BEFORE).after(far));
            }
            if let Some(instant) = origin.instant.checked_sub(far) {
                let timestamp = BEFORE.saturating_sub(saturated(far));
                assert_eq!(origin.timestamp(instant), Timestamp(timestamp));
            }
        }
    }
}
