use reattempt::retry;

#[retry(max = limit, on(_))]
fn fetch(limit: f64) -> Result<(), ()> {
    let _ = limit;
    Err(())
}

fn main() {
    let _ = fetch(2.5);
}
