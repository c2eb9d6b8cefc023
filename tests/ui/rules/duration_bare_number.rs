use reattempt::retry;

#[retry(base = 250, on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(deadline = 1.5, on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_b();
}
