//! What may leave an attempt, and what may happen inside one.

use reattempt::retry_block;

fn main() {
    let mut calls = 0;
    let answer = retry_block!(max = 3, backoff = "none", on(_), || -> Result<u32, String> {
        calls += 1;
        let mut sum = 0;
        'inner: for number in 0.. {
            if number == 1 {
                continue 'inner;
            }
            if number > 3 {
                break 'inner;
            }
            sum += number;
        }
        if calls < 2 {
            return Err("again".to_owned());
        }
        let parsed: u32 = "1".parse().map_err(|_| String::new())?;
        Ok(sum + parsed)
    });
    assert_eq!((answer, calls), (Ok(6), 2));
}
