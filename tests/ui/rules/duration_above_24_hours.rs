use reattempt::retry;

#[retry(deadline = "25h", on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
