//! `cargo test --workspace --test chaos -- --seed 7 --seconds 20`; CI takes the seed from the commit.

use std::process::ExitCode;

fn main() -> ExitCode {
    reattempt_chaos::main()
}
