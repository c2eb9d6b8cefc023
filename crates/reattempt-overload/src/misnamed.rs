//! What people write to make a limit, and what it is called here. Nobody can call it.

use reattempt_policy::__misnamed;

use crate::{Breaker, Budget, Throttle};

__misnamed! {
    [Breaker]
    CalledWindow "a breaker looks at the last calls, or at those of a time"
        "write `reattempt::Breaker::count_window(20)`, or `time_window(..)`" [builder consecutive_failures new];
    CalledFailureRatio "a breaker has `failure_ratio` for this, a share of the calls" "write `.failure_ratio(0.5)`" [failure_rate
        failure_rate_threshold failure_threshold max_failures with_failure_threshold];
    CalledCooldown "a breaker has `cooldown` for this" "write `.cooldown(..)`" [break_duration open_duration open_for
        recovery_timeout reset_timeout];
    CalledMinCalls "a breaker has `min_calls` for this" "write `.min_calls(..)`" [min_requests min_throughput minimum_calls];
    CalledProbes "a breaker has `probes` for this" "write `.probes(..)`" [half_open_calls half_open_max_calls success_threshold];
}

__misnamed! {
    [Budget]
    CalledTokens "a budget says what pays for a retry" "write `reattempt::Budget::per_success(0.1)`, or `tokens(..)`" [builder new
        ratio];
}

__misnamed! {
    [Throttle]
    CalledRate "a throttle follows the answers of a service, or a rate" "write `reattempt::Throttle::adaptive()`, or `rate(..)`"
        [builder new per_minute per_second];
}
