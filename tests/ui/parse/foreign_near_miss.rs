use reattempt::retry;

#[retry(retires = 3, on(_))]
fn one() -> Result<u32, String> {
    Ok(1)
}

#[retry(stop = 3, status = [503])]
fn others() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (one(), others());
}
