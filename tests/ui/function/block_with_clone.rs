use reattempt::retry_block;

fn main() {
    let text = String::new();
    let answer = retry_block!(on(_), clone(text), || -> Result<String, String> { Ok(text) });
    let other = retry_block!(on(_), doc = false, || -> Result<u32, String> { Ok(1) });
    let _ = (answer, other);
}
