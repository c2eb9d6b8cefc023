use reattempt::retry_block;

async fn run() {
    loop {
        let answer = retry_block!(on(_), async || -> Result<u32, String> {
            if true {
                break;
            }
            Ok(1)
        })
        .await;
        let _ = answer;
    }
}

fn main() {
    let _ = run();
}
