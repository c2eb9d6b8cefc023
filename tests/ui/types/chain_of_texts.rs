use reattempt::{chain, retry};

#[retry(on = chain!["io::Error", "ParseIntError"])]
fn fetch() -> Result<u32, Box<dyn std::error::Error>> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
