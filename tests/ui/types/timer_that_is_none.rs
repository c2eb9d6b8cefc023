use reattempt::retry;

struct Clockless;

const COUNT: i32 = 3;

#[retry(on(_), timer = COUNT)]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), timer = COUNT)]
async fn fetch_a_later() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), timer = Clockless)]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), timer = Clockless)]
async fn fetch_b_later() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch_a();
    let _ = fetch_a_later();
    let _ = fetch_b();
    let _ = fetch_b_later();
}
