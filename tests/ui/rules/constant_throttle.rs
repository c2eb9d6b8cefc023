use std::time::Duration;

use reattempt::Throttle;

static FACTOR: Throttle = Throttle::adaptive().factor(0.5);
static NO_FACTOR: Throttle = Throttle::adaptive().factor(f64::NAN);
static WINDOW: Throttle = Throttle::adaptive().window(Duration::ZERO);
static CEILING: Throttle = Throttle::adaptive().ceiling(1.5);
static MINIMUM: Throttle = Throttle::adaptive().min_requests(0);
static CUBIC: Throttle = Throttle::cubic().factor(2.0);
static RATE: Throttle = Throttle::rate(0, Duration::from_secs(1));
static PERIOD: Throttle = Throttle::rate(50, Duration::ZERO);
static FIXED: Throttle = Throttle::rate(50, Duration::from_secs(1)).ceiling(0.5);

fn main() {
    let _ = [&FACTOR, &NO_FACTOR, &WINDOW, &CEILING, &MINIMUM, &CUBIC];
}
