use reattempt::retry;

#[retry(max: 3, on(_))]
fn colon() -> Result<u32, String> {
    Ok(1)
}

#[retry(max 3, on(_))]
fn nothing() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), base: "1s")]
fn duration() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), cap: LIMIT)]
fn constant() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), max(3), base("1s"))]
fn call() -> Result<u32, String> {
    Ok(1)
}

const LIMIT: std::time::Duration = std::time::Duration::from_secs(1);

fn main() {
    let _ = (colon(), nothing(), duration(), constant(), call(), LIMIT);
}
