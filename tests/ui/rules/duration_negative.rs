use reattempt::retry;

#[retry(base = "-1s", on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(deadline = -1, on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_b();
}
