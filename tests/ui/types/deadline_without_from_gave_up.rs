use reattempt::retry;

#[retry(on(_), deadline = "3s")]
async fn fetch() -> Result<u32, String> {
    Ok(1)
}

struct Broken;

type Answer<T> = Result<T, Broken>;

#[retry(on(_), deadline = "3s")]
async fn behind_an_alias() -> Answer<u32> {
    Err(Broken)
}

// A sync function is not cut off.
#[retry(on(_), deadline = "3s")]
fn sync() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = (fetch(), behind_an_alias(), sync());
}
