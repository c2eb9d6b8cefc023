/// Of the library and the program.
//~ page
#[reattempt::retry(max = 5, backoff = "fixed", base = "2s", jitter = 0.25, on(_))]
pub async fn page(url: &str) -> Result<String, &'static str> {
    if url.is_empty() {
        return Err("no address");
    }
    Ok(url.to_owned())
}
