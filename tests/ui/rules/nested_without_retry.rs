use reattempt::retry;

#[retry(max = 1, nested = "multiply")]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
