use reattempt::retry;

#[derive(Debug)]
enum Fault {
    Timeout,
    Wrong,
}

// Without the path it would bind any error.
#[retry(on(Timeout))]
fn fetch() -> Result<u32, Fault> {
    Err(Fault::Wrong)
}

fn main() {
    let _ = (fetch(), Fault::Timeout);
}
