//! One request, retried by a loop with full jitter.

use js_sys::{Function, Math, Promise, Reflect, global};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::JsFuture;

async fn page(url: &str) -> reqwest::Result<String> {
    let response = reqwest::get(url).await?;
    response.error_for_status()?.text().await
}

async fn sleep(millis: f64) {
    let timer = Promise::new(&mut |resolve, _| {
        let set: Option<Function> = Reflect::get(&global(), &"setTimeout".into())
            .ok()
            .and_then(|set| set.dyn_into().ok());
        if let Some(set) = set {
            let _id = set.call2(&JsValue::NULL, &resolve, &millis.into());
        }
    });
    let _undefined = JsFuture::from(timer).await;
}

fn is_transient(error: &reqwest::Error) -> bool {
    match error.status() {
        Some(status) => matches!(status.as_u16(), 429 | 500 | 502 | 503 | 504),
        None => error.is_timeout() || error.is_request(),
    }
}

#[wasm_bindgen]
pub async fn fetch(url: String) -> Option<String> {
    let mut delay = 100.0;
    for attempt in 1..=5 {
        match page(&url).await {
            Ok(page) => return Some(page),
            Err(error) if attempt < 5 && is_transient(&error) => {
                sleep(delay * Math::random()).await
            }
            Err(_) => break,
        }
        delay *= 2.0;
    }
    None
}
