use reattempt::retry;

const MAX: u32 = 0;

#[retry(max = MAX, on(_))]
fn fetch() -> Result<u32, String> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
