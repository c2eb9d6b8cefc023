use reattempt::retry;

#[retry(on(_), map_err = async |error: reattempt::RetryError<u8>| error.to_string())]
async fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
