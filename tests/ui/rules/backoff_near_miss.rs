use reattempt::retry;

#[retry(backoff = "lineer", on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(backoff = "exponential", on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

#[retry(backoff = "constant", on(_))]
fn fetch_c() -> Result<u32, String> {
    Ok(1)
}

#[retry(backoff = "Exp", on(_))]
fn fetch_d() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_b();
    let _ = fetch_c();
    let _ = fetch_d();
}
