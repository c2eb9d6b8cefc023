//! Whether a request that a server refuses because it has expired has expired for its caller, too; and whether the answer
//! to one that it refuses because it is late would have come too late.
//!
//! A request says how long its caller still waits. The server counts from when it reads that, by a clock that goes faster or
//! slower than the one of the caller: the time on the way makes its refusals late, a fast clock makes them early.

use std::time::Duration;

use crate::clock::{Virtual, seconds};
use crate::figures::{Expected, Figure};

/// How long each caller waits.
const TIMEOUT: Duration = Duration::from_secs(1);

/// From one call to the next, in the mean, and how long the server takes for each: it has twice its load.
const GAP: Duration = Duration::from_micros(1_667);
const SERVICE: Duration = Duration::from_micros(3_333);

/// The mean time of a request on its way.
const WAY: Duration = Duration::from_millis(1);

const REQUESTS: u32 = 100_000;

/// The share of its refusals that is right: the caller would have stopped waiting, by its own clock, when the request is
/// done. The server refuses what has less time left than it `needs`, and its clock goes `faster` by this part.
fn right(seed: u64, needs: Duration, faster: f64) -> f64 {
    let (clock, mut free) = (Virtual::new(seed), Duration::ZERO);
    let (mut refused, mut right) = (0.0, 0.0);
    // To the caller's clock.
    let counted = seconds(TIMEOUT.as_secs_f64() / (1.0 + faster));
    for _ in 0..REQUESTS {
        clock.sleep(clock.exponential(GAP));
        let sent = clock.elapsed();
        let read = sent.saturating_add(clock.exponential(WAY));
        let begin = read.max(free);
        let done = begin.saturating_add(needs);
        if done < read.saturating_add(counted) {
            free = begin.saturating_add(SERVICE);
            continue;
        }
        refused += 1.0;
        if done >= sent.saturating_add(TIMEOUT) {
            right += 1.0;
        }
    }
    right / refused
}

/// P2: clocks that differ by 50 parts in a million, which is the error of common quartz; NTP keeps them nearer. With twice
/// that 998 of 1,000 are right.
pub fn figures() -> Vec<Figure> {
    let mut figures = Vec::new();
    for (word, needs) in [("expired", Duration::ZERO), ("late", SERVICE)] {
        for (clock, faster) in [("slow", -5e-5), ("right", 0.0), ("fast", 5e-5)] {
            let case = format!("refusals of {word} requests by a {clock} clock: right");
            let came_out = right(1, needs, faster);
            let expected = Expected::AtLeast(0.999);
            figures.push(Figure::new("P2", case, expected, came_out));
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher as _, RandomState};

    use super::*;
    use crate::figures::assert_met;

    #[test]
    fn p2_refusals_are_right() {
        assert_met(&figures());
        let seed = RandomState::new().hash_one(0);
        for faster in [-5e-5, 5e-5] {
            let right = right(seed, SERVICE, faster);
            assert!(right >= 0.999, "seed {seed:#x}, {faster}: {right}");
        }
        // A clock that gains a second in a minute.
        assert!(right(seed, SERVICE, 1.0 / 60.0) < 0.999);
    }
}
