use reattempt::retry;

#[retry(chain![std::io::Error])]
fn fetch() -> Result<u32, Box<dyn std::error::Error>> {
    Ok(1)
}

#[retry(max = 3, reattempt::chain![std::io::Error, std::fmt::Error])]
fn load() -> Result<u32, Box<dyn std::error::Error>> {
    Ok(1)
}

fn main() {
    let _ = (fetch(), load());
}
