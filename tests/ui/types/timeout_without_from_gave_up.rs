use reattempt::{retry, retry_block};

#[retry(on(_), timeout = "1s")]
async fn fetch() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), timeout = "1s")]
async fn generic<E>(error: fn() -> E) -> Result<u32, E> {
    Err(error())
}

async fn block() {
    let _ = retry_block!(on(_), timeout = "1s", async || -> Result<u32, String> { Ok(1) }).await;
}

fn main() {
    let _ = (fetch(), generic(String::new), block());
}
