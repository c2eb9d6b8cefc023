use reattempt::retry;

#[derive(Clone)]
struct Url(Vec<u8>);

impl Url {
    fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

#[retry(max = 3, on(_))]
fn fetch(url: Url) -> Result<Vec<u8>, String> {
    Ok(url.into_bytes())
}

fn main() {
    let _ = fetch(Url(Vec::new()));
}
