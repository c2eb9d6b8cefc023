use reattempt::{Policy, retry};

const POLICY: Policy = Policy::new().max(5);

#[retry(policy = POLICY, on(_), context = attempt)]
fn fetch(pages: &mut Vec<u32>) -> Result<(), String> {
    for page in 0..10 {
        pages.push(page);
        attempt.progress();
    }
    Ok(())
}

fn main() {
    let _ = fetch(&mut Vec::new());
}
