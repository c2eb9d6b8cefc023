use reattempt::retry;

#[retry(base = "30s", on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(base = "2s", cap = "1s", on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

#[retry(first = "2s", base = "1s", cap = "1s", on(_))]
fn fetch_c() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_b();
    let _ = fetch_c();
}
