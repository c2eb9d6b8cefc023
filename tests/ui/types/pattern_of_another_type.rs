use reattempt::retry;

#[retry(on(Some(_)))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(Some(_)))]
async fn fetch_a_later() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(Unheard))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(Unheard))]
async fn fetch_b_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_a_later();
    let _ = fetch_b();
    let _ = fetch_b_later();
}
