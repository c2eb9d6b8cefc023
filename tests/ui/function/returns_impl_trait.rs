use reattempt::retry;

#[retry(max = 3)]
fn fetch() -> impl Iterator<Item = u8> {
    std::iter::once(1)
}

fn main() {
    let _ = fetch();
}
