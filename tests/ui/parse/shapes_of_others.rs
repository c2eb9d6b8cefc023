use reattempt::retry;

#[derive(Debug)]
struct Busy;

#[retry(on(_), every = "1s")]
fn every() -> Result<(), Busy> {
    Err(Busy)
}

#[retry(on(_), fixed = "1s")]
fn fixed() -> Result<(), Busy> {
    Err(Busy)
}

#[retry(on(_), no_jitter)]
fn no_jitter() -> Result<(), Busy> {
    Err(Busy)
}

#[retry(on(_), backoff(fixed))]
fn backoff() -> Result<(), Busy> {
    Err(Busy)
}

#[retry(exceptions = (Busy, Late))]
fn exceptions() -> Result<(), Busy> {
    Err(Busy)
}

#[retry(on(_), async)]
fn asynchronous() -> Result<(), Busy> {
    Err(Busy)
}

fn main() {
    let _ = (every(), fixed(), no_jitter(), backoff(), exceptions(), asynchronous());
}
