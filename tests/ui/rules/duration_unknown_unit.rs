use reattempt::retry;

#[retry(base = "3 fortnights", on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(deadline = "30sec", on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_b();
}
