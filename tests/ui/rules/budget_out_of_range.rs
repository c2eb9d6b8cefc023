use reattempt::retry;

#[retry(budget = 1.5, on(_))]
fn above() -> Result<u32, String> {
    Ok(1)
}

#[retry(budget = 0, on(_))]
fn none() -> Result<u32, String> {
    Ok(1)
}

#[retry(budget = -0.1, on(_))]
fn negative() -> Result<u32, String> {
    Ok(1)
}

#[retry(budget = "10%", on(_))]
fn a_text() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (above(), none(), negative(), a_text());
}
