//! Waits that hold no worker: timers and signals.

use std::pin::pin;
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::engine_calls::Wait;
use super::journal::Lookup;
use super::workflow_context::{Inner, Place, WorkflowContext};
use crate::task::{Record, RecordKind, Signal};
use crate::time::Time;

/// The name of a timer in the record.
const TIMER: &str = "sleep";

impl WorkflowContext {
    /// Waits, for months if need be. The store keeps the task meanwhile, and the task wakes at the
    /// same time if its process is started again.
    ///
    /// # Units and ranges
    ///
    /// Counts from the call, on the clock of the store, to the microsecond. A busy worker wakes the
    /// task later.
    pub fn sleep(&self, delay: Duration) -> impl Future<Output = ()> + Send + '_ {
        let place = Place::new(self);
        async move {
            let place = place; // all of it
            let seq = place.seq;
            let wait = |now: Time| Wait {
                due: Some(now.after(delay)),
                is_signal: false,
            };
            if self.wait_for_engine(seq, TIMER, wait).await.is_some() {
                return;
            }
            let due = match self.look_up(seq, TIMER, None).await {
                Lookup::Ended(_) => return,
                Lookup::New(Some(begun)) => begun.due_at.unwrap_or_default(),
                _ => self
                    .begin_wait(seq, TIMER, Some(delay))
                    .await
                    .unwrap_or_default(),
            };
            let waiting = Waiting::new(self, seq, Some(due));
            sleep_until(&self.inner, due).await;
            drop(waiting);
            let record = self.new_record(seq, RecordKind::Done, TIMER);
            self.finish(record).await;
        }
    }

    /// Waits for a signal with this name, at most `limit`. Returns `None` if there was none.
    ///
    /// A workflow gets each signal once, in the order in which they came. A signal that comes
    /// before the workflow waits for it is kept.
    ///
    /// # Errors
    ///
    /// Fails if the value of the signal is not a `T`.
    pub fn signal<T: DeserializeOwned>(
        &self,
        name: &str,
        limit: Option<Duration>,
    ) -> impl Future<Output = Result<Option<T>, serde_json::Error>> + Send + use<'_, T> {
        let place = Place::new(self);
        let name = format!("signal {name}");
        async move {
            let place = place; // all of it
            let record = self.wait_for_signal(place.seq, &name, limit).await;
            record
                .result
                .as_deref()
                .map(serde_json::from_str)
                .transpose()
        }
    }

    /// Waits for a signal or the limit, and records which came first.
    async fn wait_for_signal(&self, seq: i32, name: &str, limit: Option<Duration>) -> Record {
        let wait = |now: Time| Wait {
            due: limit.map(|limit| now.after(limit)),
            is_signal: true,
        };
        if let Some(record) = self.wait_for_engine(seq, name, wait).await {
            return record;
        }
        let due = match self.look_up(seq, name, None).await {
            Lookup::Ended(record) => return record,
            Lookup::New(Some(begun)) => begun.due_at,
            _ => self.begin_wait(seq, name, limit).await,
        };
        let waiting = Waiting::new(self, seq, due);
        let payload = tokio::select! {
            biased;
            payload = self.next_signal(name) => Some(payload),
            () = async {
                match due {
                    Some(due) => sleep_until(&self.inner, due).await,
                    None => std::future::pending().await,
                }
            } => None,
        };
        drop(waiting);
        let record = Record {
            result: payload,
            ..self.new_record(seq, RecordKind::Done, name)
        };
        self.finish(record).await
    }

    /// Waits for the next signal with this name. Returns its payload.
    async fn next_signal(&self, name: &str) -> String {
        loop {
            let mut changed = pin!(self.inner.changed.notified());
            changed.as_mut().enable();
            if let Some(payload) = self.find_signal(name) {
                return payload;
            }
            changed.await;
        }
    }

    /// Returns the payload of the first signal with this name that the workflow has not got yet.
    fn find_signal(&self, name: &str) -> Option<String> {
        let received = self.inner.journal().count_received(name);
        let signals = self.inner.signals();
        let has_name = |signal: &&Signal| name.strip_prefix("signal ") == Some(&signal.name);
        signals
            .iter()
            .filter(has_name)
            .nth(received)
            .map(|signal| signal.payload.clone())
    }

    /// Records that a wait has begun. Returns when it ends.
    async fn begin_wait(&self, seq: i32, name: &str, limit: Option<Duration>) -> Option<Time> {
        let due = limit.map(|limit| self.inner.store_now().after(limit));
        let record = Record {
            due_at: due,
            ..self.new_record(seq, RecordKind::Begun, name)
        };
        if self.write(record).await.is_none() {
            std::future::pending::<()>().await;
        }
        due
    }
}

/// Marks a call as waiting while it lives.
pub(super) struct Waiting<'f> {
    context: &'f WorkflowContext,
    seq: i32,
}

impl<'f> Waiting<'f> {
    pub(super) fn new(context: &'f WorkflowContext, seq: i32, due: Option<Time>) -> Self {
        context.inner.journal().add_wait(seq, due);
        Self { context, seq }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.context.inner.journal().remove_wait(self.seq);
    }
}

/// Sleeps until `due` on the clock of the store.
async fn sleep_until(inner: &Inner, due: Time) {
    let left = due.since(inner.store_now());
    if left > Duration::ZERO {
        tokio::time::sleep(left).await;
    }
}
