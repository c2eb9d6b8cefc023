use reattempt::retry;

struct Shop;

impl Shop {
    fn is_busy(&self) -> bool {
        true
    }
}

#[retry(on(|e| true))]
fn fetch() -> Result<u32, Shop> {
    Err(Shop)
}

#[retry(on(_), except(|e: &Shop| e.is_busy()))]
fn except() -> Result<u32, Shop> {
    Err(Shop)
}

#[retry(on(|_| true))]
fn any() -> Result<u32, Shop> {
    Err(Shop)
}

fn main() {
    let _ = (fetch(), except(), any(), Shop.is_busy());
}
