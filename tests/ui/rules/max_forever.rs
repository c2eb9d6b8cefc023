use reattempt::retry;

#[retry(max = "forever", deadline = "30s", on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
