use reattempt::retry_block;

#[derive(Clone)]
struct Url(Vec<u8>);

impl Url {
    fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

fn main() {
    let url = Url(Vec::new());
    let answer = retry_block!(on(_), || -> Result<Vec<u8>, String> { Ok(url.into_bytes()) });
    let _ = answer;
}
