use reattempt::retry;

#[retry(factor = factor, on(_))]
fn fetch(factor: u32) -> Result<(), ()> {
    let _ = factor;
    Err(())
}

fn main() {
    let _ = fetch(2);
}
