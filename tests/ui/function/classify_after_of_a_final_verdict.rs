use std::time::Duration;

use reattempt::Classify;

#[derive(Classify)]
enum Fault {
    #[retry(permanent, after = wait)]
    Wrong { wait: Duration },
    #[retry(forbidden, after = 0)]
    Never(Duration),
}

fn main() {
    let _ = Fault::Wrong { wait: Duration::ZERO };
    let _ = Fault::Never(Duration::ZERO);
}
