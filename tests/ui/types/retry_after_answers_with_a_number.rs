use reattempt::{retry, retry_block};

fn seconds(_: &String) -> Option<u64> {
    Some(5)
}

async fn later(_: &String) -> Option<std::time::Duration> {
    None
}

#[retry(on(_), retry_after = |_| 5)]
fn by_closure() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), retry_after = seconds)]
async fn by_path() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), retry_after = later)]
async fn by_future() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (by_closure(), by_path(), by_future());
    let _ = retry_block!(on(_), retry_after = |_| Some(1.5), { Ok::<u32, String>(1) });
}
