use reattempt::retry;

use std::rc::Rc;

#[retry(max = 3, on(_), before_retry = |_| { let _ = log.len(); })]
async fn fetch(log: Rc<str>) -> Result<usize, String> {
    Ok(1)
}

fn spawn(_: impl Future + Send) {}

fn main() {
    spawn(fetch("url".into()));
}
