pub use crate::error::Fault;
pub use crate::policies::{self, Settings};
pub use reattempt::{Policy, retry, retry_block};
