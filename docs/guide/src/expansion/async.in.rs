#[retry(max = 5, jitter = 0.2, on = is_transient)]
async fn fetch(client: &Client, url: &str) -> Result<Page, FetchError> {
    client.get(url).await?.page()
}
