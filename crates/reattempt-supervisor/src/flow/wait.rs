//! What a workflow waits for without holding a worker: time, and signals.

use std::pin::pin;
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::journal::Asked;
use super::paced::Wait;
use super::{Flow, Place, until};
use crate::task::{Kind, Record};
use crate::time::Time;

const TIMER: &str = "sleep";

impl Flow {
    /// Waits, for months if need be: the task is put away meanwhile, and goes on at the same moment if the process is
    /// started again.
    ///
    /// # Units and ranges
    ///
    /// Counted on the clock of the store, from the call; to the microsecond, and as late as its worker is busy.
    pub fn sleep(&self, delay: Duration) -> impl Future<Output = ()> + Send + '_ {
        let place = Place::new(self);
        async move {
            let place = place; // all of it
            let seq = place.seq;
            let wait = |now: Time| Wait {
                due: Some(now.after(delay)),
                is_signal: false,
            };
            if self.elsewhere(seq, TIMER, wait).await.is_some() {
                return;
            }
            let due = match self.ask(seq, TIMER).await {
                Asked::Ended(_) => return,
                Asked::New(Some(begun)) => begun.due_at.unwrap_or_default(),
                _ => self
                    .begin(seq, TIMER, Some(delay))
                    .await
                    .unwrap_or_default(),
            };
            let waits = Waits::new(self, seq, Some(due));
            until(&self.inner, due).await;
            drop(waits);
            let record = self.record(seq, Kind::Done, TIMER);
            self.end(record).await;
        }
    }

    /// Waits for a signal of this name, at most `limit`: `None` if there was none. Each signal is heard once, in the
    /// order in which they came; one that came before it was waited for is kept.
    ///
    /// # Errors
    ///
    /// A signal that carries something else than a `T`.
    pub fn signal<T: DeserializeOwned>(
        &self,
        name: &str,
        limit: Option<Duration>,
    ) -> impl Future<Output = Result<Option<T>, serde_json::Error>> + Send + use<'_, T> {
        let place = Place::new(self);
        let name = format!("signal {name}");
        async move {
            let place = place; // all of it
            let record = self.heard(place.seq, &name, limit).await;
            record
                .result
                .as_deref()
                .map(serde_json::from_str)
                .transpose()
        }
    }

    async fn heard(&self, seq: i32, name: &str, limit: Option<Duration>) -> Record {
        let wait = |now: Time| Wait {
            due: limit.map(|limit| now.after(limit)),
            is_signal: true,
        };
        if let Some(record) = self.elsewhere(seq, name, wait).await {
            return record;
        }
        let due = match self.ask(seq, name).await {
            Asked::Ended(record) => return record,
            Asked::New(Some(begun)) => begun.due_at,
            _ => self.begin(seq, name, limit).await,
        };
        let waits = Waits::new(self, seq, due);
        let payload = tokio::select! {
            biased;
            payload = self.listen(name) => Some(payload),
            () = async {
                match due {
                    Some(due) => until(&self.inner, due).await,
                    None => std::future::pending().await,
                }
            } => None,
        };
        drop(waits);
        let record = Record {
            result: payload,
            ..self.record(seq, Kind::Done, name)
        };
        self.end(record).await
    }

    async fn listen(&self, name: &str) -> String {
        loop {
            let mut heard = pin!(self.inner.heard.notified());
            heard.as_mut().enable();
            if let Some(payload) = self.take(name) {
                return payload;
            }
            heard.await;
        }
    }

    /// The first signal of this name that nobody has heard.
    fn take(&self, name: &str) -> Option<String> {
        let heard = self.inner.journal().count_heard(name);
        let signals = self.inner.signals();
        let is_named =
            |signal: &&crate::task::Signal| name.strip_prefix("signal ") == Some(&signal.name);
        signals
            .iter()
            .filter(is_named)
            .nth(heard)
            .map(|signal| signal.payload.clone())
    }

    /// Writes down that a wait has begun; until when it lasts.
    async fn begin(&self, seq: i32, name: &str, limit: Option<Duration>) -> Option<Time> {
        let due = limit.map(|limit| self.inner.store_now().after(limit));
        let record = Record {
            due_at: due,
            ..self.record(seq, Kind::Begun, name)
        };
        if self.write(record).await.is_none() {
            std::future::pending::<()>().await;
        }
        due
    }
}

/// Says while it lives that somebody waits until then.
struct Waits<'f> {
    flow: &'f Flow,
    seq: i32,
}

impl<'f> Waits<'f> {
    fn new(flow: &'f Flow, seq: i32, due: Option<Time>) -> Self {
        flow.inner.journal().wait_until(seq, due);
        Self { flow, seq }
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.flow.inner.journal().wait_no_more(self.seq);
    }
}
