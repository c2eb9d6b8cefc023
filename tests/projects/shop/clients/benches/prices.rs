//~ prices
#[reattempt::retry(max = 3, base = "1us", jitter = "none", on(_))]
fn prices() -> Result<u32, &'static str> {
    Ok(7)
}

fn main() {
    assert_eq!(prices(), Ok(7));
}
