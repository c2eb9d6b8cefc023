//! `cargo retry list` on whole projects.
#![allow(clippy::expect_used, reason = "a test that panics has failed")]
#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

mod command;
mod forms;
mod names;
mod nested;
mod projects;
mod reported;
mod run;
