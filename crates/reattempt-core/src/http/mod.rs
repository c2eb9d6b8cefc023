//! The meaning of responses for a retry: statuses, `Retry-After`, and idempotency keys.
//!
//! A response with a bad status is not an error by itself. [`CheckStatus::check_status`] makes one of it
//! that keeps the response, headers and body included, and knows its verdict.

mod bad_status;
#[doc(hidden)]
pub mod context;
mod idempotency;
mod quota;
mod redirects;
mod request_error;
mod retry_after;
mod statuses;
#[cfg(test)]
mod tests;

#[doc(hidden)]
pub use bad_status::has_status;
pub use bad_status::{BadStatus, CheckStatus, HasStatus};
pub use idempotency::{HasMethod, IDEMPOTENCY_KEY};
pub use redirects::FollowsRedirects;
#[cfg(any(feature = "reqwest012", feature = "reqwest013", feature = "ureq3"))]
pub(crate) use redirects::unproved;
pub use request_error::RequestError;
pub use retry_after::retry_after;
#[cfg(feature = "aws1")]
pub(crate) use retry_after::{MILLIS, heeded};
pub use statuses::Statuses;
