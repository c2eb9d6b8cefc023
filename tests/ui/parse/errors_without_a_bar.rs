use reattempt::retry;

enum Shop {
    Busy,
    Auth,
    Lost,
}

#[retry(on(Shop::Busy, Shop::Auth))]
fn comma() -> Result<u32, Shop> {
    Err(Shop::Lost)
}

#[retry(on(Shop::Busy || Shop::Auth))]
fn two_bars() -> Result<u32, Shop> {
    Err(Shop::Busy)
}

#[retry(on(_), except(Shop::Auth, Shop::Lost,))]
fn except() -> Result<u32, Shop> {
    Err(Shop::Auth)
}

// A comma at the end is no mistake.
#[retry(on(Shop::Busy,))]
fn trailing_comma() -> Result<u32, Shop> {
    Err(Shop::Busy)
}

fn main() {
    let _ = (comma(), two_bars(), except(), trailing_comma());
}
