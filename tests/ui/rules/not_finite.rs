use reattempt::retry;

#[retry(factor = 1e999, on(_))]
fn factor() -> Result<u32, u8> {
    Err(1)
}

#[retry(jitter = -1e999, on(_))]
fn jitter() -> Result<u32, u8> {
    Err(1)
}

fn main() {
    let _ = (factor(), jitter());
}
