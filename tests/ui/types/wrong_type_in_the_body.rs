use reattempt::retry;

struct Page<T>(T);

#[retry(max = 3, on(_))]
fn fetch() -> Result<Page<u32>, String> {
    Ok(Page("1"))
}

#[retry(max = 3, on(_))]
async fn fetch_later() -> Result<Page<u32>, String> {
    Ok(Page("1"))
}

fn main() {
    let _ = (fetch(), fetch_later());
}
