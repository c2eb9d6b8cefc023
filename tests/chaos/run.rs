//! `cargo test --workspace --test chaos -- --seed 7 --seconds 20`: what CI runs.

use std::process::ExitCode;

fn main() -> ExitCode {
    reattempt_chaos::main()
}
