use reattempt::retry;

#[retry(on(_), retry_after = |error, delay| delay)]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
