use reattempt::retry;

fn is_one(error: &u32) -> bool {
    *error == 1
}

#[retry(on = |error: &u32| *error == 1)]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(on = |error: &u32| *error == 1)]
async fn fetch_a_later() -> Result<u32, String> {
    Ok(1)
}

#[retry(on = is_one)]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

#[retry(on = is_one)]
async fn fetch_b_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_a_later();
    let _ = fetch_b();
    let _ = fetch_b_later();
}
