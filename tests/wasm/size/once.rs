//! One request, once.

use wasm_bindgen::prelude::wasm_bindgen;

async fn page(url: &str) -> reqwest::Result<String> {
    let response = reqwest::get(url).await?;
    response.error_for_status()?.text().await
}

#[wasm_bindgen]
pub async fn fetch(url: String) -> Option<String> {
    page(&url).await.ok()
}
