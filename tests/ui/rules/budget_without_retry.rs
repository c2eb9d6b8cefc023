use reattempt::retry;

#[retry(max = 1, budget = 0.1, on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
