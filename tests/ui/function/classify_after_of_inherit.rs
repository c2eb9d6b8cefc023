use std::io;

use reattempt::Classify;

#[derive(Classify)]
enum Fault {
    #[retry(inherit, after = 0)]
    Io(io::Error),
}

fn main() {
    let _ = Fault::Io(io::ErrorKind::Other.into());
}
