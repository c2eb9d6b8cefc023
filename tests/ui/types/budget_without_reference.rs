use reattempt::{Budget, retry};

static SHARED: Budget = Budget::per_success(0.2);

#[retry(max = 3, budget = SHARED, on(_))]
fn page() -> Result<u8, std::io::Error> {
    Ok(7)
}

fn main() {
    let _ = page();
}
