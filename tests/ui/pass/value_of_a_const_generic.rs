use reattempt::retry;

#[retry(max = N, on(_))]
fn fetch<const N: u32>() -> Result<u32, String> {
    Ok(N)
}

fn main() {
    let _ = fetch::<3>();
}
