//! Every driver of the machine makes the same attempts of the same script, waits as long between them, and ends for
//! the same reason; and they do so as they did when `recorded.txt` was written.
//!
//! `REATTEMPT_SEED` and `REATTEMPT_CASES` choose other cases; `REATTEMPT_RECORD=1` writes the
//! lines of the record anew that `recorded.rs` explains.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that panics has failed"
)]

mod agree;
mod case;
mod clock;
mod company;
mod constants;
mod drivers;
mod names;
mod neighbours;
mod noise;
mod own_clock;
mod own_record;
mod random;
mod recorded;
mod spec;
mod trace;
mod world;
