use reattempt::retry;

fn seconds(retry: u32) -> u32 {
    retry
}

#[retry(on(_), backoff = 3.5)]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), backoff = 3.5)]
async fn fetch_a_later() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), backoff = |retry| retry)]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), backoff = |retry| retry)]
async fn fetch_b_later() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), backoff = seconds)]
fn fetch_c() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), backoff = seconds)]
async fn fetch_c_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_a_later();
    let _ = fetch_b();
    let _ = fetch_b_later();
    let _ = fetch_c();
    let _ = fetch_c_later();
}
