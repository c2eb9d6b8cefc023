//! A mutable reference that the body lets point to another place.

use reattempt::retry;

#[retry(max = 3, on(_))]
fn fill(mut buf: &mut [u8]) -> Result<usize, String> {
    let mut filled = 0;
    while !buf.is_empty() {
        buf[0] = 1;
        filled += 1;
        buf = &mut buf[1..];
    }
    Ok(filled)
}

#[retry(max = 3, on(_))]
async fn halved(mut buf: &mut [u8], size: usize) -> Result<usize, String> {
    let (_, rest) = buf.split_at_mut(size);
    buf = rest;
    Ok(buf.len())
}

fn main() {
    let _ = fill(&mut [0; 8]);
    let _ = halved(&mut [0; 8], 4);
}
