use reattempt::retry;

const SHARE: f64 = 1.5;

#[retry(jitter = reattempt::Jitter::Ratio(SHARE), on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
