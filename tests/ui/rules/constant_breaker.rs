use std::time::Duration;

use reattempt::Breaker;

static NO_CALL: Breaker = Breaker::count_window(0);
static NO_WINDOW: Breaker = Breaker::time_window(Duration::ZERO);
static RATIO_0: Breaker = Breaker::count_window(10).failure_ratio(0.0);
static RATIO_2: Breaker = Breaker::count_window(10).failure_ratio(2.0);
static NO_MINIMUM: Breaker = Breaker::count_window(10).min_calls(0);
static MINIMUM: Breaker = Breaker::count_window(10).min_calls(11);
static COOLDOWN: Breaker = Breaker::count_window(10).cooldown(Duration::ZERO);
static PROBES: Breaker = Breaker::count_window(10).probes(0);

fn main() {
    let _ = [&NO_CALL, &NO_WINDOW, &RATIO_0, &RATIO_2, &NO_MINIMUM, &MINIMUM, &COOLDOWN, &PROBES];
}
