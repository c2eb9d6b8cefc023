use reattempt::retry;

#[retry(on(_), cut_off = false)]
async fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
