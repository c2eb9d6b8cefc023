use reattempt::{Failed, retry};

#[retry(on(_), timeout = "1s", idempotent = false, verify = async |_| None)]
async fn pay() -> Result<u32, Failed<String>> {
    Ok(1)
}

fn main() {
    let _ = pay();
}
