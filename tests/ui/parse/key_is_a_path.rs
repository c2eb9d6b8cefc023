use reattempt::retry;

#[retry(policy::max = 3, on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
