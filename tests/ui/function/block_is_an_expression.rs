use reattempt::retry_block;

fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let answer = retry_block!(max = 3, on(_), fetch());
    let path = retry_block!(max = 3, on(_), fetch);
    let _ = (answer, path);
}
