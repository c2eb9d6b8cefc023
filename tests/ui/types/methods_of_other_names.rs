use std::io;
use std::time::Duration;

use reattempt::{Breaker, Policy};

const RETRIES: Policy = Policy::new().max_retries(3).base(Duration::from_millis(10));

static BREAKER: Breaker = Breaker::count_window(10);
const WITH_A_BREAKER: Policy = Policy::new().breaker(&BREAKER);
const WITH_A_NAME: Policy = Policy::new().max(5).name("fetch");

fn fetch() -> io::Result<u32> {
    Ok(1)
}

fn is_busy(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ResourceBusy
}

fn main() {
    let _ = RETRIES.initial_interval(Duration::from_millis(10));
    let _ = RETRIES.max_delay(Duration::from_secs(5));
    let _ = RETRIES.multiplier(1.5);
    let _ = RETRIES.max_elapsed_time(Duration::from_secs(30));
    let _ = RETRIES.when(is_busy).run(fetch);
    let _ = RETRIES.retry(fetch);
    let _ = RETRIES.attempt(fetch);
    let _ = RETRIES.try_run(fetch).map_err(|error| error.attempts());
    let _ = RETRIES.on_retry(|retry| eprintln!("{retry}")).run(fetch);
    let _ = RETRIES.on(is_busy).max(3).run(fetch);
    let _ = RETRIES.runner().notify(|error: &io::Error, _: Duration| eprintln!("{error}")).run(fetch);
    let _ = RETRIES.runner().sleep(tokio::time::sleep).run(fetch);
    let _ = RETRIES.runner().name("fetch").on(is_busy).run(fetch);
    let _ = RETRIES.runner().max_attempts(3).run(fetch);
    let _ = RETRIES.runner().until(|value| value.is_power_of_two()).run(fetch);
    let _ = RETRIES.on(is_busy).except(|error| error.is_late()).run(fetch);
    let _ = RETRIES.runner().fallback(|_| 1).run(fetch);
    let _ = RETRIES.runner().map_err(|error| error.to_string()).run(fetch);
    let _ = RETRIES.runner().retry_after(|_| None).run(fetch);
}
