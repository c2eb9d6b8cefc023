//! What others retry by hand or with another library, as they would write it with this one, and the tests of other
//! libraries.
#![allow(
    clippy::unwrap_used,
    clippy::panic_in_result_fn,
    reason = "a test that panics has failed"
)]

#[path = "ports/finagle.rs"]
mod finagle;
#[path = "ports/microprofile.rs"]
mod microprofile;
#[path = "ports/nebulastream.rs"]
mod nebulastream;
#[path = "ports/opendal.rs"]
mod opendal;
#[path = "ports/smithy.rs"]
mod smithy;
