use reattempt::retry;

#[retry(never, on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(never = true)]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_b();
}
