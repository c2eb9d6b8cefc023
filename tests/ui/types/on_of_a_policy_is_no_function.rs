use std::io;

use reattempt::Policy;

fn fetch() -> io::Result<u32> {
    Ok(1)
}

fn main() {
    let _ = Policy::new().on(io::ErrorKind::TimedOut).run(fetch);
    let _ = Policy::new().on(true).run(fetch);
}
