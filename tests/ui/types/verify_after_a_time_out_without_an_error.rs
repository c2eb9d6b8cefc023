use reattempt::{RetryError, retry};

#[retry(on(_), timeout = "1s", idempotent = false, verify = async |_| None)]
async fn pay() -> Result<u32, RetryError<String>> {
    Ok(1)
}

struct Declined;

// That the error takes no `GaveUp` is said once, where it stands.
#[retry(on(_), timeout = "1s", idempotent = false, verify = async |_| None)]
async fn pay_by_card() -> Result<u32, Declined> {
    Ok(1)
}

fn main() {
    let _ = (pay(), pay_by_card());
}
