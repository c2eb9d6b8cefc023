use reattempt::retry;

const SECONDS: u64 = 2;

#[retry(base = SECONDS, on(_))]
fn fetch() -> Result<(), ()> {
    Err(())
}

fn main() {
    let _ = fetch();
}
