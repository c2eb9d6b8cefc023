use reattempt::retry;

const N: u32 = 0;

#[retry(max = N, on(_))]
fn fetch() -> Result<u32, u8> {
    Err(1)
}

fn main() {
    let _ = fetch();
}
