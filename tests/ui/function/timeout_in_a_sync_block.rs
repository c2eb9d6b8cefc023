use reattempt::{Failed, retry_block};

fn main() {
    let _ = retry_block!(timeout = "1s", on(_), || -> Result<u32, Failed<String>> { Ok(1) });
}
