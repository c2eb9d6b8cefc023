use reattempt::{Bulkhead, retry};

static NOBODY: Bulkhead = Bulkhead::new(0);

#[retry(bulkhead = 16, on(_))]
fn number() -> Result<(), reattempt::RetryError<()>> {
    Ok(())
}

#[retry(bulkhead = Bulkhead::new(16), on(_))]
fn of_each_call() -> Result<(), reattempt::RetryError<()>> {
    Ok(())
}

#[retry(bulkhead = &NOBODY, on(_))]
fn no_answer() -> Result<(), ()> {
    Ok(())
}

fn main() {}
