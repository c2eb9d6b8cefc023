use reattempt::retry_block;

fn main() {
    let answer = retry_block!(on(_), |attempt| -> Result<u32, String> { Ok(attempt) });
    let _ = answer;
}
