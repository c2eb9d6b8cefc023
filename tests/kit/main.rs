//! The testing kit: virtual time, seeds, records, scripted faults and what a
//! failed assertion says.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that panics has failed, and its numbers are small"
)]

mod clock;
mod faults;
mod keys;
mod record;
mod support;
