use reattempt::retry;

#[retry(max = 3, on(_), max = 4)]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), on = |_| true)]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_b();
}
