use reattempt::retry;

#[retry(on(_), until = |()| true)]
fn nothing() {}

#[retry(except = |_| false, until = |()| true)]
async fn nothing_later() {}

#[retry(on = |_| true, until = |ready| *ready)]
fn ready() -> bool {
    true
}

// Nothing asks them: a `None` that is not final is a value.
#[retry(except = |_| true, until = Option::is_some)]
fn found() -> Option<u32> {
    None
}

#[retry(on(_))]
fn no_value() {}

#[retry(except = |_| false)]
fn value() -> u32 {
    1
}

fn main() {
    nothing();
    let _ = nothing_later();
    no_value();
    let _ = (ready(), found(), value());
}
