use std::io;

use reattempt::retry;

fn order() -> io::Result<u32> {
    #[retry(max = 3)]
    {
        Ok(1)
    }
}

fn main() {
    let _ = order();
}
