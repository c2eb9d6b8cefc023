use std::time::Duration;

use reattempt::Classify;

#[derive(Classify)]
enum Error {
    #[transient]
    Busy,
    #[throttled(after = wait)]
    Limited { wait: Duration },
    #[permanent]
    Gone,
}

fn main() {}
