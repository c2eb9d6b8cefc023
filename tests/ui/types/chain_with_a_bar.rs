use reattempt::{chain, retry};

#[retry(on = chain![std::io::Error | std::fmt::Error])]
fn fetch() -> Result<u32, Box<dyn std::error::Error>> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
