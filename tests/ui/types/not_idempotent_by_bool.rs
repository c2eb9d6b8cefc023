use reattempt::retry;

#[retry(idempotent = false, on = |fault| *fault > 3)]
fn by_bool() -> Result<u32, u8> {
    Err(4)
}

fn main() {
    let _ = by_bool();
}
