use reattempt::retry;

const SHARE: f64 = f64::NAN;
const ABOVE: f64 = 2.0;

#[retry(max = 3, budget = SHARE, on(_))]
fn page() -> Result<u8, String> {
    Ok(7)
}

#[retry(max = 3, budget = ABOVE, on(_))]
fn above() -> Result<u8, String> {
    Ok(7)
}

#[retry(max = 3, budget = reattempt::Budget::per_success(f64::NAN), on(_))]
fn built() -> Result<u8, String> {
    Ok(7)
}

fn main() {
    let _ = (page(), above(), built());
}
