use reattempt::retry_block;

fn main() {
    let answer = retry_block!(on(_), { 1 });
    let typed = retry_block!(on(_), || -> u32 { 1 });
    let _ = (answer, typed);
}
