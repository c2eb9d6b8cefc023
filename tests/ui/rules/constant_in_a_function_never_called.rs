use reattempt::retry;

const MAX: u32 = 0;

#[retry(max = MAX, on(_))]
pub fn fetch<T: From<u32>>() -> Result<T, String> {
    Ok(T::from(1))
}

fn main() {}
