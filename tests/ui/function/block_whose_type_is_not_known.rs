use reattempt::retry_block;

fn main() {
    let answer = retry_block!(on(_), {
        let number: u32 = "1".parse()?;
        Ok(number)
    });
    let _ = answer;
}
