//! How many requests may be refused: a share of the requests of the last seconds. The caller holds
//! the lock and knows the time.

use std::time::Duration;

use reattempt_core::Timestamp;

/// One for each second of the window.
const SLOTS: usize = 10;
const WHOLE: u64 = 1_000_000;

/// The requests of one second.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    second: u64,
    requests: u64,
    refused: u64,
}

/// The requests of the last ten seconds, and how many of them may be refused.
#[derive(Debug)]
pub(super) struct Refusals {
    slots: [Slot; SLOTS],
    latest: u64,
    /// In millionths.
    most: u64,
}

impl Refusals {
    /// Returns a count that refuses at most `share`, which is in `0.0..=1.0` and is rounded to a
    /// millionth.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float saturates at the ends of the range"
    )]
    pub(super) fn at_most(share: f64) -> Self {
        Self {
            slots: [Slot::default(); SLOTS],
            latest: 0,
            most: (share * 1e6).round() as u64,
        }
    }

    /// Counts a request, and returns whether it is refused: it has `expired`, and with it the
    /// refused requests are within their share of all requests.
    pub(super) fn refuses(&mut self, expired: bool, now: Timestamp) -> bool {
        let since = now.since(Timestamp::from_origin(Duration::ZERO));
        // Between reading the clock and coming here another thread may have been faster.
        self.latest = self.latest.max(since.as_secs());
        let refused = expired && self.has_room();
        let slot = self.slot();
        slot.requests = slot.requests.saturating_add(1);
        slot.refused = slot.refused.saturating_add(u64::from(refused));
        refused
    }

    fn has_room(&self) -> bool {
        let (mut requests, mut refused) = (1_u64, 1_u64);
        for slot in &self.slots {
            if self.latest.saturating_sub(slot.second) < SLOTS as u64 {
                requests = requests.saturating_add(slot.requests);
                refused = refused.saturating_add(slot.refused);
            }
        }
        share(refused, WHOLE) <= share(requests, self.most)
    }

    fn slot(&mut self) -> &mut Slot {
        let second = self.latest;
        #[expect(clippy::cast_possible_truncation, reason = "below the number of slots")]
        #[expect(clippy::indexing_slicing, reason = "below the number of slots")]
        let slot = &mut self.slots[second.rem_euclid(SLOTS as u64) as usize];
        if slot.second != second {
            *slot = Slot {
                second,
                ..Slot::default()
            };
        }
        slot
    }
}

/// Returns the product, which has at most 128 bits.
fn share(count: u64, of: u64) -> u128 {
    u128::from(count).saturating_mul(of.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Timestamp {
        Timestamp::from_origin(Duration::from_secs_f64(1000.0 + seconds))
    }

    /// How many of so many expired requests are refused.
    fn refused(refusals: &mut Refusals, expired: u32, now: Timestamp) -> u32 {
        (0..expired)
            .map(|_| u32::from(refusals.refuses(true, now)))
            .sum()
    }

    fn serve(refusals: &mut Refusals, requests: u32, now: Timestamp) {
        for _ in 0..requests {
            assert!(!refusals.refuses(false, now));
        }
    }

    #[test]
    fn the_share_is_exact() {
        for (share, of_a_thousand) in [
            (0.0, 0),
            (0.001, 1),
            (0.2, 200),
            (0.3, 300),
            (0.6, 600),
            (0.75, 750),
            (1.0, 1000),
        ] {
            let mut refusals = Refusals::at_most(share);
            assert_eq!(
                refused(&mut refusals, 1000, at(0.0)),
                of_a_thousand,
                "{share}"
            );
        }
    }

    #[test]
    fn one_of_five_at_the_earliest() {
        for served in 0..4 {
            let mut refusals = Refusals::at_most(0.2);
            serve(&mut refusals, served, at(0.0));
            assert!(!refusals.refuses(true, at(0.0)), "after {served}");
        }
        let mut refusals = Refusals::at_most(0.2);
        serve(&mut refusals, 4, at(0.0));
        assert_eq!(refused(&mut refusals, 5, at(0.0)), 1);
        assert!(refusals.refuses(true, at(0.0)), "the tenth");
    }

    /// Requests count in their own second and the nine after it.
    #[test]
    fn the_window_slides() {
        let mut refusals = Refusals::at_most(0.2);
        serve(&mut refusals, 100, at(0.9));
        assert_eq!(refused(&mut refusals, 10, at(9.9)), 10);
        // The hundred are gone, and the ten are more than a fifth until they are gone, too.
        assert_eq!(refused(&mut refusals, 40, at(10.0)), 0);
        assert_eq!(refused(&mut refusals, 1, at(18.9)), 0);
        assert_eq!(refused(&mut refusals, 11, at(19.0)), 10);
    }

    #[test]
    fn nothing_is_left_after_a_long_time() {
        let mut refusals = Refusals::at_most(0.5);
        serve(&mut refusals, 100, at(0.0));
        assert!(!refusals.refuses(true, at(1e6)));
        assert!(refusals.refuses(true, at(1e6)));
    }

    /// A thread that comes late counts with the others, and drops nothing.
    #[test]
    fn the_clock_may_seem_to_go_back() {
        let mut refusals = Refusals::at_most(0.5);
        serve(&mut refusals, 9, at(10.0));
        assert!(refusals.refuses(true, at(0.0)));
        assert!(refusals.refuses(true, at(10.0)));
    }
}
