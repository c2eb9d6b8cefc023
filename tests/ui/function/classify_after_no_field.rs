use reattempt::Classify;

use std::time::Duration;

#[derive(Classify)]
enum Fault {
    #[retry(throttled, after = delay)]
    Busy { wait: Duration },
    #[retry(throttled, after = 1)]
    Later(Duration),
    #[retry(throttled, after = 0)]
    Unit,
    #[retry(transient, after = wait)]
    Reset(Duration),
}

fn main() {}
