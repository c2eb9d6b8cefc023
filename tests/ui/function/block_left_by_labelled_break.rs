use reattempt::retry_block;

fn main() {
    'outer: loop {
        let answer: Result<u32, String> = retry_block!(on(_), {
            if true {
                break 'outer;
            }
            Ok(1)
        });
        let _ = answer;
    }
}
