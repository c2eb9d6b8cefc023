//! What surrounds a call, and what the call does all the same: unrelated calls of the same task or
//! thread, which give up again and again, outer calls that retry it, and an inherited deadline.
//!
//! Nothing here waits for real. `REATTEMPT_SEED` repeats what an earlier run has drawn.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::future_not_send,
    reason = "a test that panics has failed, and its futures stay on their thread"
)]

mod chains;
mod clock;
mod deadlines;
mod forms;
mod operations;
mod service;
mod sessions;
mod surroundings;
