use reattempt::{Budget, retry};

static SHARED: Budget = Budget::tokens(3);

#[retry(budget = &SHARED, on(_))]
fn fetch_a() -> Result<u32, String> {
    Ok(1)
}

#[retry(budget = Budget::tokens(4), on(_))]
fn fetch_b() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (fetch_a(), fetch_b());
}
