//! A write on its way to the store.

use std::fmt;
use std::sync::Arc;

use tokio::sync::oneshot;

use crate::store::{StoreError, Write, WriteResult};

/// The result of a write. An error is shared with the other writes of the transaction.
pub(crate) type Reply = Result<WriteResult, Arc<StoreError>>;

/// A write, and the caller who waits for its result.
pub(super) struct Job {
    pub(super) write: Write,
    pub(super) reply: oneshot::Sender<Reply>,
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write.fmt(f)
    }
}
