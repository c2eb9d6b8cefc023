//! `cargo run --release -p reattempt-chaos -- --seed 7 --seconds 60`; see the README.

use std::process::ExitCode;

fn main() -> ExitCode {
    reattempt_chaos::main()
}
