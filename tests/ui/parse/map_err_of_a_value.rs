use reattempt::{RetryError, retry};

#[retry(map_err = "timed out", on(_))]
fn literal() -> Result<u32, String> {
    Ok(1)
}

#[retry(map_err = mapper(), on(_))]
fn call() -> Result<u32, String> {
    Ok(1)
}

fn mapper() -> fn(RetryError<String>) -> String {
    |error| error.to_string()
}

fn main() {
    let _ = (literal(), call());
}
