use std::time::Duration;

use reattempt::Breaker;

static NO_CALL: Breaker = Breaker::count(0);
static NO_WINDOW: Breaker = Breaker::time(Duration::ZERO);
static RATIO_0: Breaker = Breaker::count(10).failure_ratio(0.0);
static RATIO_2: Breaker = Breaker::count(10).failure_ratio(2.0);
static NO_MINIMUM: Breaker = Breaker::count(10).minimum(0);
static MINIMUM: Breaker = Breaker::count(10).minimum(11);
static COOLDOWN: Breaker = Breaker::count(10).cooldown(Duration::ZERO);
static PROBES: Breaker = Breaker::count(10).probes(0);

fn main() {
    let _ = [&NO_CALL, &NO_WINDOW, &RATIO_0, &RATIO_2, &NO_MINIMUM, &MINIMUM, &COOLDOWN, &PROBES];
}
