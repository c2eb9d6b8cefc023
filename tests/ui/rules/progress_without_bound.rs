use reattempt::{retry, retry_block};

#[retry(max = 5, on(_), context = attempt)]
fn fetch(pages: &mut Vec<u32>) -> Result<(), String> {
    for page in 0..10 {
        pages.push(page);
        attempt.progress();
    }
    Ok(())
}

fn main() {
    let _ = fetch(&mut Vec::new());
    let _ = retry_block!(max = 5, deadline = "1h", backoff = "none", budget = 0.1, on(_), context = attempt, {
        attempt.progress();
        Err::<(), _>("broken")
    });
}
