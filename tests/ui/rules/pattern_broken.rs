use reattempt::retry;

#[retry(on(1 +))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(Some(_) if))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_b();
}
