use reattempt::retry;

#[retry(on(_), map_err = |error: reattempt::RetryError<u8>| error.to_string(), fallback = |_| 3)]
fn fetch() -> Result<u32, String> {
    Err(1)?
}

fn main() {
    let _ = fetch();
}
