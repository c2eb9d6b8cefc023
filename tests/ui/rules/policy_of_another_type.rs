use reattempt::retry;

const POLICY: u32 = 3;

#[retry(policy = POLICY, on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
