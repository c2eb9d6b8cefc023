use reattempt::{RetryError, retry};

#[retry(on(_), map_err = |error: String| error)]
fn takes_the_error_alone() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), map_err = text)]
fn path_that_takes_the_error_alone() -> Result<u32, String> {
    Ok(1)
}

fn text(error: String) -> String {
    error
}

#[retry(on(_), map_err = |error: RetryError<u8>| error.attempts())]
fn gives_a_number() -> Result<u32, String> {
    Ok(1)
}

#[retry(on(_), map_err = number)]
async fn path_that_gives_a_number() -> Result<u32, String> {
    Ok(1)
}

fn number(error: RetryError<u8>) -> u32 {
    error.attempts()
}

fn main() {
    let _ = (takes_the_error_alone(), path_that_takes_the_error_alone());
    let _ = (gives_a_number(), path_that_gives_a_number());
}
