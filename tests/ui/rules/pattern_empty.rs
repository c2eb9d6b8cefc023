use reattempt::retry;

#[retry(on())]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), except())]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_b();
}
