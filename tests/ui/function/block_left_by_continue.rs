use reattempt::retry_block;

fn main() {
    for _ in 0..3 {
        let answer: Result<u32, String> = retry_block!(on(_), {
            if true {
                continue;
            }
            Ok(1)
        });
        let _ = answer;
    }
}
