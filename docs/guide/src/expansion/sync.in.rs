#[retry(max = 5, jitter = 0.2, on = is_transient)]
pub fn fetch(url: &str) -> Result<Page, FetchError> {
    client().get(url)?.page()
}
