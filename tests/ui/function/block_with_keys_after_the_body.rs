use reattempt::retry_block;

fn main() {
    let answer: Result<u32, String> = retry_block!({ Ok(1) }, max = 3, on(_));
    let _ = answer;
}
