//! Blocks.

use again::retry_block;

use crate::{Fault, seen};

/// A block.
pub fn sync() -> Result<u32, Fault> {
    retry_block!(crate = ::again, max = 2, before_retry = seen, {
        if true {
            return Err(Fault::Busy);
        }
        Ok(3)
    })
}

/// An async closure.
pub async fn asynchronous() -> Result<u32, Fault> {
    retry_block!(
        crate = ::again,
        max = 2,
        deadline = "1s",
        on(_),
        async || -> Result<u32, Fault> {
            Err(Fault::Busy)?;
            Ok(3)
        }
    )
    .await
}
