use reattempt::retry;

#[retry(fallback = 3, on(_))]
fn literal() -> Result<u32, String> {
    Ok(1)
}

#[retry(fallback = 1 + 2, on(_))]
fn sum() -> Result<u32, String> {
    Ok(1)
}

#[retry(fallback = Default::default(), on(_))]
fn default() -> Result<u32, String> {
    Ok(1)
}

#[retry(fallback = Vec::new(), on(_))]
fn empty() -> Result<Vec<u32>, String> {
    Ok(vec![1])
}

struct Empty {
    count: u32,
}

macro_rules! values {
    ($([$($value:tt)*])*) => { $(
        const _: () = {
            #[retry(fallback = $($value)*, on(_))]
            async fn fetch() -> Result<Empty, String> {
                Ok(Empty { count: 1 })
            }
        };
    )* };
}

values! {
    [Default::default]
    [Vec::new]
    [u32::default]
    [vec![]]
    [format!("none")]
    [Empty { count: 0 }]
    [[1, 2]]
    [&[1, 2]]
    [other().await]
    [other().await?]
    [other()?]
}

fn main() {
    let _ = (literal(), sum(), default(), empty());
}
