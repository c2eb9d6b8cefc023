use std::io;

use reattempt::{Breaker, Policy, RetryError};

static SHOP: Breaker = Breaker::count_window(10);

fn fetch() -> io::Result<u32> {
    Ok(1)
}

fn main() -> Result<(), RetryError<io::Error>> {
    Policy::new().runner().breaker(&SHOP).try_run(fetch)?;
    let _ = Policy::new().runner().breaker(&SHOP).run(fetch);
    Ok(())
}
