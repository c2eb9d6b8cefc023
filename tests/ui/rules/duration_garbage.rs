use reattempt::retry;

#[retry(base = "soon", on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(cap = "1s500", on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_b();
}
