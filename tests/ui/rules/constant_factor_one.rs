use reattempt::retry;

const FACTOR: f64 = 1.0;

#[retry(factor = FACTOR, on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
