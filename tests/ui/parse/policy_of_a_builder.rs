use reattempt::retry;

#[retry(policy = reattempt::Policy::builder().max(3).build())]
fn fetch() -> std::io::Result<u32> {
    Ok(1)
}

fn main() {
    let _ = fetch();
}
