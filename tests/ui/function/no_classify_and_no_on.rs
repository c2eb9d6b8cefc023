use reattempt::retry;

#[derive(Debug)]
struct Broken;

#[retry(max = 3)]
fn fetch() -> Result<u32, Broken> {
    Err(Broken)
}

#[retry(max = 3)]
async fn fetch_later() -> Result<u32, Broken> {
    Err(Broken)
}

#[retry(max = 3)]
fn fetch_text() -> Result<u32, String> {
    Err(String::new())
}

#[retry(max = 3)]
fn fetch_any() -> Result<u32, Box<dyn std::error::Error>> {
    Ok(1)
}

fn main() {
    let _ = (fetch(), fetch_later(), fetch_text(), fetch_any());
}
