use reattempt::{Retry, retry};

async fn refresh(_: &Retry<'_, String>) {}

#[retry(max = 3, on(_), before_retry = async |_| {})]
fn by_closure() -> Result<u32, String> {
    Ok(1)
}

#[retry(max = 3, on(_), before_retry = |_| async {})]
fn by_block() -> Result<u32, String> {
    Ok(1)
}

#[retry(max = 3, on(_), before_retry = refresh)]
fn by_path() -> Result<u32, String> {
    Ok(1)
}

#[retry(max = 3, on(_), fallback = async |_| 1)]
fn answered() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (by_closure(), by_block(), by_path(), answered());
}
