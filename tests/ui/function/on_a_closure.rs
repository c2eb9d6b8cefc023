use reattempt::retry;

fn main() {
    let fetch = #[retry(max = 3)]
    || -> Result<u32, String> { Ok(1) };
    let _ = fetch();
}
