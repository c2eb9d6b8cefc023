//! The path may lead through another crate or module, and be a text.

use crate::Fault;

pub(crate) mod vendored {
    pub(crate) use again as retries;
}

/// A path of this crate.
#[vendored::retries::retry(crate = crate::reexported::vendored::retries, max = 2, on(_))]
pub fn relative() -> Result<u32, Fault> {
    Err(Fault::Busy)
}

/// A text, as serde has it.
#[again::retry(crate = "::again", max = 2, deadline = "3s", on(_))]
pub async fn text() -> Result<u32, Fault> {
    Err(Fault::Busy)
}
