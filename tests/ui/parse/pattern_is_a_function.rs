use reattempt::retry;

fn is_transient(_: &u8) -> bool {
    false
}

#[retry(on(is_transient))]
fn fetch() -> Result<u32, u8> {
    Err(u8::from(is_transient(&1)))
}

fn main() {
    let _ = fetch();
}
