use reattempt::retry;

#[retry(fallback = 3, on(_))]
fn literal() -> Result<u32, String> {
    Ok(1)
}

#[retry(fallback = 1 + 2, on(_))]
fn sum() -> Result<u32, String> {
    Ok(1)
}

#[retry(fallback = Default::default(), on(_))]
fn default() -> Result<u32, String> {
    Ok(1)
}

#[retry(fallback = Vec::new(), on(_))]
fn empty() -> Result<Vec<u32>, String> {
    Ok(vec![1])
}

fn main() {
    let _ = (literal(), sum(), default(), empty());
}
