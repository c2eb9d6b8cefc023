use reattempt::retry;

#[retry(on(_), verify = |_| Some(1))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
