//! One retry protocol between services, so that a chain of processes retries like a chain of functions: five services with
//! five attempts each make 21 calls of a dead one, not 3,125.
//!
//! Each request says in the header [`Retry-Context`](RETRY_CONTEXT) how long its caller still waits, which attempt it is,
//! whether its priority is low, and what below its receiver has used up its retries. The answer says what has used them up
//! meanwhile. [The page of the protocol] says all that a peer in another language needs.
//!
//! [`ClientProtocol`] and [`ServerProtocol`], layers of tower, do both for axum, hyper and tonic. For other clients and
//! servers there are [`Edge`] and [`Request`].
//!
//! [The page of the protocol]: https://github.com/reattempt/reattempt/blob/main/docs/protocol.md
//! [`ClientProtocol`]: https://docs.rs/reattempt/latest/reattempt/tower/struct.ClientProtocol.html
//! [`ServerProtocol`]: https://docs.rs/reattempt/latest/reattempt/tower/struct.ServerProtocol.html
//!
//! # Examples
//!
//! A server without tower:
//!
//! ```
//! use http::HeaderMap;
//! use reattempt::{deadline, protocol::Request};
//! use std::time::Duration;
//!
//! let mut headers = HeaderMap::new();
//! headers.insert("retry-context", "left=250, attempt=2".parse().expect("a value"));
//!
//! let mut request = Request::from_headers(&headers);
//! assert!(!request.is_expired());
//! let left = request.run(deadline::remaining);
//! assert!(left <= Some(Duration::from_millis(250)));
//!
//! let mut answer = HeaderMap::new();
//! request.to_answer(&mut answer); // Nothing has used up its retries.
//! assert!(answer.is_empty());
//! ```

mod callers;
mod edge;
mod grpc;
mod names;
mod own;
mod request;

pub use edge::Edge;
pub use reattempt_core::http::context::RETRY_CONTEXT;
pub use request::{Request, Served};
