use reattempt::retry;

fn says(_: &String) -> &'static str {
    "yes"
}

#[retry(on = |error| "yes")]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(on = |error| "yes")]
async fn fetch_a_later() -> Result<u32, String> {
    Ok(1)
}

#[retry(on = says)]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

#[retry(on = says)]
async fn fetch_b_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_a_later();
    let _ = fetch_b();
    let _ = fetch_b_later();
}
