//! What the tests retry.

use std::time::Duration;

use reattempt::testing::FaultPlan;
use reattempt::{Classify, retry};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Classify)]
pub(crate) enum Fault {
    #[retry(transient)]
    Reset,
    #[retry(throttled, after = wait)]
    Busy { wait: Duration },
    #[retry(permanent)]
    Wrong,
}

pub(crate) const PAUSE: Duration = Duration::from_secs(400);
pub(crate) const HOUR: Duration = Duration::from_secs(3600);

pub(crate) fn reset() -> Fault {
    Fault::Reset
}

pub(crate) const fn ms(number: u64) -> Duration {
    Duration::from_millis(number)
}

#[retry(name = "slow", max = 10, backoff = "fixed", base = PAUSE, cap = PAUSE, jitter = "none")]
pub(crate) fn slow(faults: &FaultPlan<Fault>) -> Result<(), Fault> {
    faults.check()
}

#[retry(name = "slow", max = 10, backoff = "fixed", base = PAUSE, cap = PAUSE, jitter = "none")]
pub(crate) async fn slow_async(faults: &FaultPlan<Fault>) -> Result<(), Fault> {
    faults.check()
}

#[retry(name = "random", max = 6)]
pub(crate) fn random(faults: &FaultPlan<Fault>) -> Result<(), Fault> {
    faults.check()
}

#[retry(name = "random", max = 6)]
pub(crate) async fn random_async(faults: &FaultPlan<Fault>) -> Result<(), Fault> {
    faults.check()
}

#[retry(name = "quick", max = 2, backoff = "none")]
pub(crate) fn quick(faults: &FaultPlan<Fault>) -> Result<(), Fault> {
    faults.check()
}
