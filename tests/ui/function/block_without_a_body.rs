use reattempt::retry_block;

fn main() {
    let answer: Result<u32, String> = retry_block!(max = 3, on(_));
    let nothing: Result<u32, String> = retry_block!();
    let _ = (answer, nothing);
}
