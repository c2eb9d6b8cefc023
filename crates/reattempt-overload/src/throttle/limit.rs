//! The tokens of a cubic throttle, and whose turn it is.
#![warn(clippy::arithmetic_side_effects)]

use core::time::Duration;

use super::curve::Curve;
use super::line::{Left, Line};
use reattempt_core::Timestamp;
use reattempt_policy::duration::Nanos;

/// Calls a second that are always allowed.
const LEAST_FILL: f64 = 0.5;
const LEAST_CAPACITY: f64 = 1.0;
/// A token, less what is lost where it comes in many parts.
const WHOLE: f64 = 1.0 - 1e-9;

/// Tokens that come at a rate, and go to the call that waits longest. A place in the line is not a moment:
/// its turn comes sooner when the rate goes up.
#[derive(Debug)]
pub(super) struct Limit {
    pub(super) curve: Curve,
    fill: f64,
    capacity: f64,
    /// Tokens that no call has; below 0 by what was spent before its turn.
    balance: f64,
    filled_at: Timestamp,
    line: Line,
}

impl Limit {
    /// Empty: the service has just had too much.
    pub(super) const fn starting(measured: f64, now: Timestamp, first_place: u64) -> Self {
        Self {
            curve: Curve::starting(measured, now),
            fill: measured,
            capacity: LEAST_CAPACITY,
            balance: 0.0,
            filled_at: now,
            line: Line::new(first_place),
        }
    }

    pub(super) const fn fill(&self) -> f64 {
        self.fill
    }

    /// The place that is given out next.
    pub(super) const fn next_place(&self) -> u64 {
        self.line.next()
    }

    fn refill(&mut self, now: Timestamp) {
        self.balance += now.since(self.filled_at).as_secs_f64() * self.fill;
        // Also back: where it could not, a clock that was set back would stop the tokens.
        self.filled_at = now;
        self.serve();
    }

    // What is above the capacity is lost only where no call waits for it.
    fn serve(&mut self) {
        while self.balance >= WHOLE && self.line.serve() {
            self.balance -= 1.0;
        }
        self.balance = self.balance.min(self.capacity);
    }

    /// Takes the last place, and answers how long it is until its turn at this rate.
    pub(super) fn take(&mut self, now: Timestamp) -> (u64, Duration) {
        // First, because this call has not waited for the tokens that came before.
        self.refill(now);
        let place = self.line.join();
        self.serve();
        (place, self.wait(place, now))
    }

    /// How long it is until the turn of a place, at the rate of now.
    #[expect(clippy::cast_precision_loss, reason = "so many do not wait")]
    pub(super) fn wait(&mut self, place: u64, now: Timestamp) -> Duration {
        self.refill(now);
        let Some(ahead) = self.line.ahead(place) else {
            return Duration::ZERO;
        };
        // Rounded up: a call that waits that long is served then, and a wait is never zero.
        let nanos = (ahead as f64 + 1.0 - self.balance) / self.fill * 1e9;
        Nanos(nanos.ceil().max(1.0)).duration()
    }

    /// The call with this place begins. Before its turn it takes the token of a later time.
    pub(super) fn spend(&mut self, place: u64) {
        if self.line.leave(place) == Left::Waiting {
            self.balance -= 1.0;
        }
    }

    /// The call with this place does not begin.
    pub(super) fn give_back(&mut self, place: u64) {
        if self.line.leave(place) == Left::Served {
            self.balance += 1.0;
            self.serve();
        }
    }

    pub(super) fn set_rate(&mut self, rate: f64, now: Timestamp) {
        self.refill(now);
        self.fill = rate.max(LEAST_FILL);
        self.capacity = rate.max(LEAST_CAPACITY);
        self.balance = self.balance.min(self.capacity);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(second: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_secs(second))
    }

    fn limit(fill: f64) -> Limit {
        Limit {
            fill,
            ..Limit::starting(0.0, second(1), 1)
        }
    }

    const HALF: Duration = Duration::from_millis(500);

    #[test]
    fn waiting_callers_get_different_times() {
        let mut limit = limit(2.0);
        let waits = [(); 4].map(|()| limit.take(second(1)).1);
        assert_eq!(waits, [1, 2, 3, 4].map(|n| HALF * n));
        // A second later two of them are paid for.
        let (place, wait) = limit.take(second(2));
        assert_eq!(wait, HALF * 3);
        let waits = [1, 2, 3, 4].map(|place| limit.wait(place, second(2)));
        assert_eq!(waits, [0, 0, 1, 2].map(|n| HALF * n));
        // What one of those gives back goes to the first that waits.
        limit.give_back(1);
        let waits = [3, 4, place].map(|place| limit.wait(place, second(2)));
        assert_eq!(waits, [0, 1, 2].map(|n| HALF * n));
        // And the place of one that waits to those behind.
        limit.give_back(4);
        assert_eq!(limit.wait(place, second(2)), HALF);
    }

    #[test]
    fn what_nobody_waited_for_is_bounded() {
        let mut limit = limit(0.5);
        let waits = [(); 3].map(|()| limit.take(second(1000)).1);
        assert_eq!(waits, [0, 4, 8].map(|n| HALF * n));
    }

    #[test]
    fn a_place_comes_sooner_when_the_rate_goes_up() {
        let mut limit = limit(0.5);
        let places = [(); 3].map(|()| limit.take(second(1)).0);
        limit.set_rate(10.0, second(2));
        let waits = places.map(|place| limit.wait(place, second(2)).as_millis());
        assert_eq!(waits, [50, 150, 250]);
        limit.set_rate(1.0, second(2));
        let waits = places.map(|place| limit.wait(place, second(2)).as_millis());
        assert_eq!(waits, [500, 1500, 2500]);
    }

    #[test]
    fn who_begins_before_its_turn_takes_a_later_token() {
        let mut limit = limit(2.0);
        let places = [(); 3].map(|()| limit.take(second(1)).0);
        limit.spend(places[1]);
        let waits = [places[0], places[2]].map(|place| limit.wait(place, second(1)));
        assert_eq!(waits, [HALF * 2, HALF * 3]);
        limit.give_back(places[2]);
        limit.spend(places[0]);
        assert_eq!(limit.take(second(1)).1, HALF * 3);
    }

    #[test]
    fn what_is_not_there_is_never_waited_for_in_no_time() {
        let mut limit = limit(1e12);
        let (_, wait) = limit.take(second(1));
        assert_eq!(wait, Duration::from_nanos(1));
        limit = Limit {
            fill: 1.0,
            balance: 1.0 - 2e-9,
            ..Limit::starting(0.0, second(1), 1)
        };
        let (place, wait) = limit.take(second(1));
        assert_eq!(wait, Duration::from_nanos(3));
        // Rounding loses less than that.
        limit.balance = 1.0 - f64::EPSILON;
        assert_eq!(limit.wait(place, second(1)), Duration::ZERO);
    }

    #[test]
    fn tokens_are_bounded_and_a_clock_set_back_does_not_stop_them() {
        let mut limit = limit(0.5);
        limit.set_rate(0.1, second(1));
        assert!(limit.fill >= LEAST_FILL && limit.capacity >= LEAST_CAPACITY);
        limit.refill(second(1000));
        assert!((limit.balance - 1.0).abs() < 1e-9, "{}", limit.balance);
        let (place, wait) = limit.take(second(3));
        assert_eq!(wait, Duration::ZERO);
        assert_eq!(limit.take(second(5)).1, Duration::ZERO);
        assert_eq!(limit.take(second(5)).1, Duration::from_secs(2));
        limit.refill(second(100));
        limit.give_back(place);
        assert!((limit.balance - 1.0).abs() < 1e-9, "{}", limit.balance);
    }
}
