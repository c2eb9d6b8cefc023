use reattempt::retry;

#[derive(Debug)]
enum Fault {
    Timeout,
    Wrong,
}

// Binds any error, so that it would retry what it should not.
#[retry(on(Timeot))]
fn fetch() -> Result<u32, Fault> {
    Err(Fault::Wrong)
}

fn main() {
    let _ = (fetch(), Fault::Timeout);
}
