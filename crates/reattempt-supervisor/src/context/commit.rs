//! A step in a transaction of the application: its record is committed with what the step writes.

use std::fmt;
use std::sync::Arc;

use super::commit_slot::CommitSlot;
use super::journal::Stop;
use super::step::Step;
use crate::payload::Payload;

/// The value of a step whose transaction is committed. A step with `#[step(transaction)]` returns it.
#[derive(Debug)]
pub struct Committed<T>(T);

impl<T> Committed<T> {
    /// Returns the value.
    pub fn into_value(self) -> T {
        self.0
    }
}

/// A step that is recorded in a transaction, before its `COMMIT`. If it is dropped, the outcome of
/// the transaction is unknown: the task fails once and runs again, and the record decides.
#[derive(Debug)]
#[must_use = "say whether the transaction is committed"]
pub struct PendingCommit<T> {
    slot: Arc<CommitSlot>,
    text: String,
    value: T,
}

impl<T> PendingCommit<T> {
    /// Returns the text for `SELECT retry_record($1)`, the last statement before `COMMIT`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Says that the database has answered that the transaction is committed.
    pub fn succeeded(self) -> Committed<T> {
        self.slot.end(true);
        Committed(self.value)
    }

    /// Says that the transaction is rolled back for certain: the step may try again.
    pub fn rolled_back(self) {
        self.slot.end(false);
    }
}

/// Reports that the result of a step cannot be recorded. The task stops, whatever the step returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordError(String);

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RecordError {}

impl Step {
    /// Begins to record this step in a transaction of the application, for drivers without an adapter:
    /// see [`transaction`](crate::transaction).
    ///
    /// # Errors
    ///
    /// Fails if the step has no `transaction` key, if it has another transaction that is committed or
    /// may be, or if the value cannot be written as JSON or is too large.
    pub fn record<T: Payload>(&self, value: T) -> Result<PendingCommit<T>, RecordError> {
        let slot = self.commit.as_ref().ok_or_else(|| {
            RecordError("this step has no transaction; write `#[step(transaction)]`".to_owned())
        })?;
        let json = serde_json::to_string(&value).map_err(|error| {
            let name = &slot.template.name;
            Stop::Diverged(format!(
                "the result of step `{name}` cannot be written as JSON ({error})"
            ))
        });
        match json.and_then(|json| slot.begin(json)) {
            Ok(record) => Ok(PendingCommit {
                text: slot.text(&record),
                slot: Arc::clone(slot),
                value,
            }),
            Err(stop) => {
                let message = stop.message().to_owned();
                slot.stop(stop);
                Err(RecordError(message))
            }
        }
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::{Committed, Payload, Step, Stop};
    use crate::transaction::{LIMIT, RECORD, Refusal, Transaction, is_rolled_back, refusal};

    /// How long the answer to a COMMIT may take: the server may be gone without a word.
    const ANSWER: Duration = Duration::from_secs(5);

    /// The largest limit that PostgreSQL knows, in milliseconds.
    const LONGEST: u128 = 2_147_483_647;

    impl Step {
        /// Limits the statements of a transaction, and the time between two of them, to what is left
        /// of `complete_by`. Without it the server may go on with a statement whose step is over.
        ///
        /// # Errors
        ///
        /// Fails as the driver does.
        pub async fn limit<X: Transaction>(&self, transaction: &mut X) -> Result<(), X::Error> {
            let slot = self.commit.as_ref();
            let Some(deadline) = slot.and_then(|slot| slot.deadline) else {
                return Ok(());
            };
            let left = deadline.saturating_duration_since(tokio::time::Instant::now());
            // 0 would stand for no limit.
            let left = left.as_millis().saturating_add(1).min(LONGEST).to_string();
            transaction.query_text(LIMIT, left).await.map(drop)
        }

        /// Records this step with its value in a transaction of the application, and commits it.
        ///
        /// Never returns if the task has changed hands, or if the outcome of the transaction is
        /// unknown, because the answer to `COMMIT` is lost or takes longer than 5 s: then the
        /// scheduler drops the step.
        ///
        /// # Errors
        ///
        /// Fails if the database refuses the transaction, which is rolled back.
        ///
        /// # Cancel safety
        ///
        /// If the future is dropped, the transaction is committed or not, and the step counts as
        /// unfinished. When the task runs again, the record says which.
        pub async fn commit<T: Payload, X: Transaction>(
            &self,
            mut transaction: X,
            value: T,
        ) -> Result<Committed<T>, X::Error> {
            let (Ok(pending), Some(slot)) = (self.record(value), &self.commit) else {
                drop(transaction);
                return std::future::pending().await;
            };
            let recorded = transaction.query_text(RECORD, pending.text.clone()).await;
            if let Err(error) = recorded {
                let sqlstate = X::sqlstate(&error);
                let stop = match refusal(sqlstate.as_deref()) {
                    None => {
                        // It was not committed: no `COMMIT` was sent.
                        pending.rolled_back();
                        return Err(error);
                    }
                    Some(Refusal::Lost) => Stop::Lost,
                    Some(Refusal::Recorded) => slot.unsettled(),
                    Some(Refusal::Never(why)) => {
                        let name = &slot.template.name;
                        Stop::Refused(format!("step `{name}` cannot be recorded: {why}"))
                    }
                };
                if !matches!(stop, Stop::Failed(..)) {
                    pending.rolled_back();
                }
                drop(transaction);
                slot.stop(stop);
                return std::future::pending().await;
            }
            match timeout(ANSWER, transaction.commit()).await {
                Ok(Ok(())) => Ok(pending.succeeded()),
                Ok(Err(error)) if is_rolled_back(X::sqlstate(&error).as_deref()) => {
                    pending.rolled_back();
                    Err(error)
                }
                Ok(Err(_)) | Err(_) => {
                    slot.stop(slot.unsettled());
                    std::future::pending().await
                }
            }
        }
    }
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use std::panic::resume_unwind;
    use std::sync::Arc;

    use tokio::time::Instant;

    use super::{Committed, Payload, Step, Stop};
    use crate::store::sqlite::{Recorded, Sqlite};

    impl Step {
        /// Runs the transaction of this step on the thread of the store that writes, and records the
        /// step in it. `store` is a clone of the store of the [`Client`](crate::Client).
        ///
        /// Nothing else is written to the store meanwhile, heartbeats included: statements end after a
        /// quarter of the default lease, 2.5 s, and `work` must not wait for anything else. If another
        /// process has locked the file for as long, the worker gives the task back, without a failure.
        ///
        /// # Errors
        ///
        /// Fails if `work` does or ends the transaction, or if SQLite fails for good; then the
        /// transaction is rolled back.
        ///
        /// # Panics
        ///
        /// Panics if `work` does, after the transaction is rolled back.
        ///
        /// # Cancel safety
        ///
        /// As [`commit`](Self::commit).
        pub async fn commit_on<T, E>(
            &self,
            store: &Sqlite,
            work: impl FnOnce(&rusqlite::Transaction<'_>) -> Result<T, E> + Send + 'static,
        ) -> Result<Committed<T>, E>
        where
            T: Payload,
            E: From<rusqlite::Error> + Send + 'static,
        {
            let Some(slot) = self.commit.clone() else {
                // Nothing can be recorded, and this says so.
                let message = "this step has no transaction; write `#[step(transaction)]`";
                let error = rusqlite::Error::InvalidParameterName(message.to_owned());
                return Err(error.into());
            };
            let lease = slot.context.inner.lease;
            let own = slot.context.inner.store.as_ref();
            if own.is_some_and(|own| store.has_salt(own.salt())) {
                let (own, deadline) = (Arc::clone(&slot), slot.deadline);
                let record = move |value: &T| {
                    let json = serde_json::to_string(value).map_err(|error| {
                        Stop::Diverged(format!("the result cannot be written as JSON ({error})"))
                    });
                    json.and_then(|json| own.begin(json))
                };
                let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
                match store.transaction(lease, left, work, record).await {
                    Ok(Recorded::Committed(value)) => {
                        slot.end(true);
                        return Ok(Committed(value));
                    }
                    Ok(Recorded::RolledBack(error)) => {
                        slot.end(false);
                        return Err(error);
                    }
                    Ok(Recorded::Panicked(panic)) => resume_unwind(panic),
                    Ok(Recorded::Lost) => {
                        slot.end(false);
                        slot.stop(Stop::Lost);
                    }
                    Ok(Recorded::Refused(stop)) => slot.stop(stop),
                    // SQLite has rolled it back: others use the file, or the disk is full.
                    Err(error) if error.is_passing() => {
                        slot.end(false);
                        slot.stop(Stop::Unavailable);
                    }
                    // How far the thread has come is unknown.
                    Err(_) => slot.stop(slot.unsettled()),
                }
            } else {
                let name = &slot.template.name;
                slot.stop(Stop::Refused(format!(
                    "step `{name}` cannot be recorded: its transaction is not in the file of the store"
                )));
            }
            std::future::pending().await
        }
    }
}
