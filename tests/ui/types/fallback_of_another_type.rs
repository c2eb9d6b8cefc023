use reattempt::retry;

fn nothing(_: String) -> bool {
    false
}

#[retry(on(_), fallback = |_| "nothing")]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), fallback = |_| "nothing")]
async fn fetch_a_later() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), fallback = nothing)]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), fallback = nothing)]
async fn fetch_b_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_a_later();
    let _ = fetch_b();
    let _ = fetch_b_later();
}
