use reattempt::retry;

#[retry(until = |value| *value > 1, retry_after = |_| None)]
fn value() -> u32 {
    1
}

#[retry(until = Option::is_some, retry_after = |_| None)]
async fn option() -> Option<u32> {
    Some(1)
}

#[retry(until = |()| true, retry_after = |_| None)]
fn nothing() {}

fn main() {
    let _ = (value(), option());
    nothing();
}
