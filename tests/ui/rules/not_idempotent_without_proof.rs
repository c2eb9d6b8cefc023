use reattempt::retry;

#[derive(Debug)]
enum Fault {
    Refused,
    Lost,
}

#[retry(idempotent = false, on(Fault::Refused))]
fn by_pattern() -> Result<u32, Fault> {
    Err(Fault::Lost)
}

#[retry(idempotent = false, on(_))]
fn by_any() -> Result<u32, Fault> {
    Err(Fault::Lost)
}

#[retry(idempotent = false)]
fn by_option() -> Option<u32> {
    None
}

fn main() {
    let _ = (by_pattern(), by_any(), by_option());
}
