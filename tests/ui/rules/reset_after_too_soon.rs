use reattempt::retry;

#[retry(reset_after = "9s", cap = "1s", deadline = "24h", on(_))]
fn soon() -> Result<u32, String> {
    Ok(1)
}

#[retry(deadline = "24h", reset_after = "19s", on(_))]
fn below_cap() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (soon(), below_cap());
}
