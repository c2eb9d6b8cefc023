use reattempt::retry;

#[retry(fallback = 3, on(_))]
fn literal() -> Result<u32, String> {
    Ok(1)
}

#[retry(fallback = vec![1], on(_))]
fn list() -> Result<Vec<u32>, String> {
    Ok(Vec::new())
}

fn main() {
    let _ = (literal(), list());
}
