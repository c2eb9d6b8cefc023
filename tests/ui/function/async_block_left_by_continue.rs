use reattempt::retry_block;

async fn run() {
    loop {
        let answer: Result<u32, String> = retry_block!(on(_), async {
            if true {
                continue;
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
