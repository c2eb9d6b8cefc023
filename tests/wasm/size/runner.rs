//! One request, retried by a policy without the attribute.

use reattempt::Policy;
use wasm_bindgen::prelude::wasm_bindgen;

async fn page(url: &str) -> reqwest::Result<String> {
    let response = reqwest::get(url).await?;
    response.error_for_status()?.text().await
}

#[wasm_bindgen]
pub async fn fetch(url: String) -> Option<String> {
    let policy = const { Policy::new().max(5) };
    policy.runner().try_run_async(|| page(&url)).await.ok()
}
