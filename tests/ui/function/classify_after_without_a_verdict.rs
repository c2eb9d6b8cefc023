use std::time::Duration;

use reattempt::Classify;

#[derive(Classify)]
enum Fault {
    #[retry(after = 0)]
    Busy(Duration),
}

fn main() {
    let _ = Fault::Busy(Duration::ZERO);
}
