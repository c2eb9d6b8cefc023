//~ token
#[reattempt::retry(max = 2, base = "1m", cap = "1m", jitter = "none", on(_))]
pub fn fresh() -> Result<u8, ()> {
    Ok(2)
}
