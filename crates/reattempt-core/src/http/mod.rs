//! What a response means for a retry: which statuses are worth another attempt, when the
//! service asks to come back, and what a request needs so that it may be sent twice.
//!
//! A response with a bad status is not an error by itself. [`CheckStatus::check_status`] makes one of it
//! that keeps the response, headers and body included, and knows its verdict.

mod bad_status;
mod idempotency;
mod request_error;
mod retry_after;
mod statuses;

pub use bad_status::{BadStatus, CheckStatus, HasStatus};
pub use idempotency::{HasMethod, IDEMPOTENCY_KEY};
pub use request_error::RequestError;
#[cfg(feature = "aws1")]
pub(crate) use retry_after::heeded;
pub use retry_after::retry_after;
pub use statuses::Statuses;
