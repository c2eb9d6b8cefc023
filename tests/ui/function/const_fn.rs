use reattempt::retry;

#[retry(max = 3, on(_))]
const fn fetch() -> Result<u32, String> {
    Ok(1)
}

const FETCHED: Result<u32, String> = fetch();

fn main() {
    let _ = FETCHED;
}
