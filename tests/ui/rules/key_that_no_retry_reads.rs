use reattempt::retry;

const TWO: u32 = 2;

#[retry(backoff = "none", fast_first, on(_))]
fn always_immediate() -> Result<u32, u8> {
    Ok(1)
}

#[retry(max = 2, fast_first, base = "1s", on(_))]
fn once_and_immediate() -> Result<u32, u8> {
    Ok(1)
}

#[retry(max = 2, factor = 3.0, on(_))]
fn once() -> Result<u32, u8> {
    Ok(1)
}

#[retry(max = TWO, factor = 3.0, on(_))]
fn constant() -> Result<u32, u8> {
    Ok(1)
}

fn main() {
    let _ = (always_immediate(), once_and_immediate(), once(), constant());
}
