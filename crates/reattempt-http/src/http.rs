//! The meaning of a response for a retry: which statuses are worth another attempt, when the
//! service asks the client to come back, and what a request needs so that it may be sent twice.
//!
//! A response with a bad status is not an error by itself. [`CheckStatus::check_status`] makes an
//! error of it that keeps the response, headers and body included, and knows its verdict:
//!
//! ```
//! use reattempt::http::{BadStatus, CheckStatus};
//! use reattempt::{Classify, Verdict};
//! use std::time::Duration;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let response = http::Response::builder().status(429).header("retry-after", "7").body("slow down")?;
//! let bad: BadStatus<http::Response<&str>> = response.check_status().unwrap_err();
//! assert_eq!(bad.classify(), Verdict::Throttled(Some(Duration::from_secs(7))));
//! assert_eq!(bad.into_response().body(), &"slow down");
//! # Ok(())
//! # }
//! ```

#[cfg(any(feature = "reqwest-middleware04", feature = "reqwest-middleware05"))]
pub use crate::middleware::{ProtocolMiddleware, RetryMiddleware};
pub use reattempt_core::http::{
    BadStatus, CheckStatus, FollowsRedirects, HasMethod, HasStatus, IDEMPOTENCY_KEY, RequestError,
    Statuses, retry_after,
};
