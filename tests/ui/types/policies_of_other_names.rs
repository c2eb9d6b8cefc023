use std::io;
use std::time::Duration;

use reattempt::{Breaker, Budget, Policy, Throttle};

static BREAKER: Breaker = Breaker::new(5);
static OTHER: Breaker = Breaker::count_window(20).failure_threshold(5).reset_timeout(Duration::from_secs(5));
static BUDGET: Budget = Budget::new(0.1);
static THROTTLE: Throttle = Throttle::new(10);

const EXP: Policy = Policy::exp().max(3);
const FIXED: Policy = Policy::fixed(Duration::from_secs(1));
const NEVER: Policy = Policy::never();
const LONG: Policy = Policy::new().exponential().max_duration(Duration::from_secs(9));
const JITTER: Policy = Policy::new().with_jitter();
const FREE: Policy = Policy::new().no_budget();
const NAMED: Policy = Policy::new().name("shop");
const GUARDED: Policy = Policy::new().breaker(&BREAKER);
const SHOWN: Policy = Policy::new().on_retry(|retry| eprintln!("{retry}"));

fn fetch() -> io::Result<u32> {
    Ok(1)
}

fn main() {
    let _ = Policy::builder().max(3).build();
    let _ = Policy::new().base_ms(100);
    let _ = Policy::new().with_max(5).with_max_delay(Duration::from_secs(5));
    let _ = Policy::new().retry_if(fetch, |error| error.is_busy());
    let _ = Policy::new().until(|value| value.is_power_of_two()).run(fetch);
    let _ = Policy::new().except(|error: &io::Error| false).run(fetch);
    let _ = Policy::new().fallback(|_| 1).run(fetch);
    let _ = Policy::new().map_err(|error| error.to_string()).run(fetch);
    let _ = Policy::new().retry_after(|error| error.wait()).run(fetch);
    let _ = Policy::new().before_retry(|retry| retry.number()).run(fetch);
    for delay in Policy::new().delays() {
        std::thread::sleep(delay);
    }
}
