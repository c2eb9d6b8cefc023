//! The virtual clock, with the one random generator of a run.

use std::cell::Cell;
use std::f64::consts::TAU;
use std::time::Duration;

use retry_runtime::timer::{Clock, Timestamp};

/// The beginning of every run.
pub const START: Timestamp = Timestamp::from_origin(Duration::ZERO);

/// A clock that shows what the events say, and seeded random numbers: the same seed gives the same run.
#[derive(Debug)]
pub struct Virtual {
    now: Cell<Timestamp>,
    state: Cell<u64>,
}

impl Virtual {
    /// A clock at [`START`].
    pub const fn new(seed: u64) -> Self {
        Self {
            now: Cell::new(START),
            state: Cell::new(seed),
        }
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.now.get().since(START)
    }

    /// Lets `duration` go by.
    pub fn sleep(&self, duration: Duration) {
        self.set(self.now.get().after(duration));
    }

    /// Goes on to `moment`; never back.
    pub(crate) fn set(&self, moment: Timestamp) {
        self.now.set(self.now.get().max(moment));
    }

    /// Uniform in `[0, 1)`.
    pub fn unit(&self) -> f64 {
        // 53 bits are what a float holds; in two halves, which it holds exactly.
        let bits = self.random() >> 11;
        let high = u32::try_from(bits >> 32).unwrap_or_default();
        let low = u32::try_from(bits & u64::from(u32::MAX)).unwrap_or_default();
        (f64::from(high) * 4_294_967_296.0 + f64::from(low)) / 9_007_199_254_740_992.0
    }

    /// Whether something of this probability happens.
    pub fn happens(&self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Exponentially distributed: the gaps of a Poisson process.
    pub fn exponential(&self, mean: Duration) -> Duration {
        let factor = -(1.0 - self.unit()).ln();
        seconds(mean.as_secs_f64() * factor)
    }

    /// The distance from zero of a normally distributed number.
    ///
    /// # Source
    ///
    /// Box and Muller, "A Note on the Generation of Random Normal Deviates", 1958.
    pub fn normal(&self, mean: Duration, deviation: Duration) -> Duration {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        let deviate = radius * (TAU * self.unit()).cos();
        seconds((mean.as_secs_f64() + deviate * deviation.as_secs_f64()).abs())
    }
}

/// This many seconds; 0 for what is no duration.
pub(crate) fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number).unwrap_or_default()
}

impl Clock for Virtual {
    fn now(&self) -> Timestamp {
        self.now.get()
    }

    /// splitmix64: the same on every platform.
    fn random(&self) -> u64 {
        let state = self.state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.state.set(state);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and standard deviation of what `draw` gives, in seconds.
    fn moments(draw: impl Fn(&Virtual) -> f64) -> (f64, f64) {
        let clock = Virtual::new(1);
        let drawn: Vec<f64> = (0..100_000).map(|_| draw(&clock)).collect();
        let mean = drawn.iter().sum::<f64>() / 100_000.0;
        let squares = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        (mean, (squares / 100_000.0).sqrt())
    }

    #[test]
    fn distributions_have_their_mean_and_deviation() {
        let (mean, deviation) = moments(Virtual::unit);
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
        assert!((deviation - 12_f64.sqrt().recip()).abs() < 0.005);

        let second = Duration::from_secs(1);
        let (mean, deviation) = moments(|clock| clock.exponential(second).as_secs_f64());
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!((deviation - 1.0).abs() < 0.02, "{deviation}");

        let (mean, deviation) = moments(|clock| clock.normal(5 * second, second).as_secs_f64());
        assert!((mean - 5.0).abs() < 0.02, "{mean}");
        assert!((deviation - 1.0).abs() < 0.02, "{deviation}");
    }

    #[test]
    fn the_clock_does_not_go_back() {
        let clock = Virtual::new(0);
        clock.sleep(Duration::from_secs(3));
        clock.set(START);
        assert_eq!(clock.elapsed(), Duration::from_secs(3));
    }
}
