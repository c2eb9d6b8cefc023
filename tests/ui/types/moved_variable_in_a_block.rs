use reattempt::retry_block;

fn main() {
    let url = String::new();
    let answer = retry_block!(on(_), || -> Result<Vec<u8>, String> { Ok(url.into_bytes()) });
    let _ = answer;
}
