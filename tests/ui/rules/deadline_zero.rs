use reattempt::retry;

#[retry(deadline = "0s", on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
