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

#[retry(max = 3, on(_))]
fn by_another_name<'a>(buf: &'a mut [u8]) -> impl Future<Output = Result<u8, String>> + 'a {
    let mut rest: &'a mut [u8] = buf;
    async move {
        rest = &mut rest[1..];
        rest.first().copied().ok_or_else(String::new)
    }
}

fn main() {
    let _ = by_another_name(&mut [0; 8]);
    let _ = fill(&mut [0; 8]);
    let _ = halved(&mut [0; 8], 4);
}
