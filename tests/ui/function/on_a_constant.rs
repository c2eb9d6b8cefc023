use reattempt::retry;

#[retry(max = 3)]
const MAX: u32 = 3;

fn main() {
    let _ = MAX;
}
