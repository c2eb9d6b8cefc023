use reattempt::retry;

use std::rc::Rc;

#[retry(max = 3, on(_))]
async fn fetch(url: Rc<str>) -> Result<usize, String> {
    tokio::task::yield_now().await;
    Ok(url.len())
}

fn spawn(_: impl Future + Send) {}

fn main() {
    spawn(fetch("url".into()));
}
