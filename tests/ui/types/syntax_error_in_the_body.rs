use reattempt::retry;

#[retry(max = 3, on(_))]
fn fetch() -> Result<u32, String> {
    let value = ;
    Ok(value)
}

fn main() {
    let _ = fetch();
}
