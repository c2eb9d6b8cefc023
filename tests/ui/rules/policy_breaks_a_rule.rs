use reattempt::{Policy, retry};

const POLICY: Policy = Policy::new().max(0);

#[retry(policy = POLICY, on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
