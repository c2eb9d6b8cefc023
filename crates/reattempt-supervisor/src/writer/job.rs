//! A write on its way to the store.

use std::fmt;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::seats::Seats;
use crate::store::{StoreError, Write, WriteResult};

/// The result of a write. An error is shared with the other writes of the transaction.
pub(crate) type Reply = Result<WriteResult, Arc<StoreError>>;

/// A write, and the receiver of its result.
pub(super) struct Job {
    pub(super) write: Write,
    pub(super) reply: ReplyTo,
}

/// The receiver of a result.
pub(super) enum ReplyTo {
    /// The caller that waits for it.
    Caller(oneshot::Sender<Reply>),
    /// The worker whose seats the claim was made for.
    Worker(mpsc::UnboundedSender<Reply>, Seats),
}

impl ReplyTo {
    /// Sends the result; the receiver may be gone.
    pub(super) fn send(self, reply: Reply) {
        match self {
            Self::Caller(caller) => drop(caller.send(reply)),
            Self::Worker(worker, seats) => {
                // Before the next claim.
                seats.settle(match &reply {
                    Ok(WriteResult::Claimed(claimed, _)) => Some(claimed.len()),
                    _ => None,
                });
                let _ = worker.send(reply);
            }
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        match self {
            Self::Caller(caller) => caller.is_closed(),
            Self::Worker(worker, _) => worker.is_closed(),
        }
    }
}

impl From<oneshot::Sender<Reply>> for ReplyTo {
    fn from(caller: oneshot::Sender<Reply>) -> Self {
        Self::Caller(caller)
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write.fmt(f)
    }
}
