use reattempt::retry;

#[retry(3, on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry("exp", on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

#[retry("storage")]
fn fetch_c() -> Result<u32, String> {
    Ok(1)
}

#[retry("5s", on(_))]
fn fetch_d() -> Result<u32, String> {
    Ok(1)
}

#[retry(0.2, on(_))]
fn fetch_e() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_b();
    let _ = fetch_c();
    let _ = fetch_d();
    let _ = fetch_e();
}
