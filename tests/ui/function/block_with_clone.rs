use reattempt::retry_block;

fn main() {
    let text = String::new();
    let answer = retry_block!(on(_), clone(text), || -> Result<String, String> { Ok(text) });
    let _ = answer;
}
