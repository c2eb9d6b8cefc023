use std::io;

use reattempt::Policy;

fn fetch() -> io::Result<u32> {
    Ok(1)
}

fn main() {
    let _ = Policy::new().runner().timer(std::thread::sleep).run(fetch);
}
