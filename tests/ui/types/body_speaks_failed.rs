use reattempt::{Failed, retry};

#[retry(max = 3, on(_))]
fn fetch() -> Result<u32, Failed<String>> {
    let inner: Result<u32, Failed<String>> = fetch();
    inner
}

fn main() {
    let _ = fetch();
}
