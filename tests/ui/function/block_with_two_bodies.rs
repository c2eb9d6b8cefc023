use reattempt::retry_block;

fn main() {
    let answer: Result<u32, String> = retry_block!(on(_), { Ok(1) }, { Ok(2) });
    let _ = answer;
}
