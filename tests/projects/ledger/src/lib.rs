//! Keeps books.
//!
//! ```
//! // In a doc test: not listed, since it is no target of cargo.
//! use again::retry;
//! #[retry(max = 7, on(_))]
//! fn entry() -> Result<(), String> { Ok(()) }
//! assert_eq!(entry(), Ok(()));
//! ```

pub mod books;
pub mod imported;
pub mod others;
pub mod wide;

#[rustfmt::skip]
#[cfg_attr(unix, path = "platform/unix.rs")]
#[cfg_attr(not(unix), path = "platform/others.rs")]
mod platform;

// Only there is there such a file.
#[cfg(windows)]
#[rustfmt::skip]
mod registry;

#[cfg(all(test, not(miri)))]
mod tests;

pub use platform::sync;
