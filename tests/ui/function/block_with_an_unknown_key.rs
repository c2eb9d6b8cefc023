use reattempt::retry_block;

fn main() {
    let answer: Result<u32, String> = retry_block!(maks = 3, retries = 3, max = 0, { Ok(1) });
    let _ = answer;
}
