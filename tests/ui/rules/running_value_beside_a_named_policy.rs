use reattempt::retry;

#[retry(policy = "storage", max = limit, on(_))]
fn fetch(limit: u32) -> Result<(), ()> {
    let _ = limit;
    Err(())
}

fn main() {
    let _ = fetch(3);
}
