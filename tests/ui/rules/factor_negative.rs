use reattempt::retry;

#[retry(factor = -2.0, on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
