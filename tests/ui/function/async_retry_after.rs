use reattempt::{retry, retry_block};

#[retry(on(_), retry_after = async |_| None)]
fn by_closure() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), retry_after = async |_| None)]
async fn in_an_async_function() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), retry_after = |_| async { None })]
async fn by_block() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (by_closure(), in_an_async_function(), by_block());
    let _ = retry_block!(on(_), retry_after = async |_| None, { Ok::<u32, String>(1) });
}
