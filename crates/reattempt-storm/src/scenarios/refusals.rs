//! Whether a request that a server refuses because it has expired has expired for its caller, too.
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

/// The share of its refusals that is right: the caller had stopped waiting by its own clock. The clock of the server goes
/// `faster` by this part.
fn right(seed: u64, faster: f64) -> f64 {
    let (clock, mut free) = (Virtual::new(seed), Duration::ZERO);
    let (mut refused, mut right) = (0.0, 0.0);
    // To the caller's clock.
    let counted = seconds(TIMEOUT.as_secs_f64() / (1.0 + faster));
    for _ in 0..REQUESTS {
        clock.sleep(clock.exponential(GAP));
        let sent = clock.elapsed();
        let read = sent.saturating_add(clock.exponential(WAY));
        let begin = read.max(free);
        if begin < read.saturating_add(counted) {
            free = begin.saturating_add(SERVICE);
            continue;
        }
        refused += 1.0;
        if begin >= sent.saturating_add(TIMEOUT) {
            right += 1.0;
        }
    }
    right / refused
}

/// P2: clocks that differ by 50 parts in a million, which is the error of common quartz; NTP keeps them nearer. With twice
/// that 998 of 1,000 are right.
pub fn figures() -> Vec<Figure> {
    let cases = [("slow", -5e-5), ("right", 0.0), ("fast", 5e-5)];
    let figure = |(clock, faster)| {
        let case = format!("refusals of expired requests by a {clock} clock: right");
        Figure::new("P2", case, Expected::AtLeast(0.999), right(1, faster))
    };
    cases.map(figure).to_vec()
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
            let right = right(seed, faster);
            assert!(right >= 0.999, "seed {seed:#x}, {faster}: {right}");
        }
        // A clock that gains a second in a minute.
        assert!(right(seed, 1.0 / 60.0) < 0.999);
    }
}
