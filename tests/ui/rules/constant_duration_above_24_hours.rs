use reattempt::retry;

const WEEK: std::time::Duration = std::time::Duration::from_secs(7 * 24 * 60 * 60);

#[retry(cap = WEEK, on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
