use reattempt::{chain, retry};

#[retry(max = 3, on = chain![])]
fn fetch() -> Result<u32, std::io::Error> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
