//! What a workflow has in its hands: steps, timers, signals, and a clock that tells the same when it runs again.

mod agent;
pub(crate) mod journal;
pub(crate) mod paced;
pub(crate) mod poll;
mod step;
mod wait;

use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

pub use agent::Fault;
pub use step::{Spec, Step, StepError};
pub(crate) use step::{Undo, Undoing, call};

use crate::resources::Resources;
use crate::store::{Claimed, Operation, Outcome, Standing};
use crate::task::{Direction, Hold, Kind, Record, Run, RunId, Signal};
use crate::time::Time;
use crate::writer::Writer;
use journal::{Asked, Journal, Stop};
use paced::{Paced, Wait};

/// A task as its workflow sees it.
///
/// A workflow is run again from its start when another process takes its task over; what it did before is then told
/// to it from the record. So it must do the same when it hears the same: what is outside - time, chance, files, the
/// network - it asks of its steps and of this.
pub struct Flow {
    pub(crate) inner: Arc<Inner>,
    /// Set in the flow that a compensation sees: the step that it undoes.
    undoes: Option<i32>,
}

/// One task in the hands of this process.
pub(crate) struct Inner {
    pub(crate) run: Run,
    pub(crate) hold: Hold,
    /// What makes the numbers of its store different from those of others.
    pub(crate) salt: u64,
    pub(crate) writer: Writer,
    pub(crate) resources: Arc<Resources>,
    journal: Mutex<Journal>,
    paced: Option<Mutex<Paced>>,
    undos: Mutex<Vec<Undo>>,
    signals: Mutex<Vec<Signal>>,
    heard: Notify,
    clock: (Instant, Time),
}

impl fmt::Debug for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flow")
            .field("run", &self.inner.run.id)
            .field("undoes", &self.undoes)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Inner").field(&self.hold).finish()
    }
}

impl Inner {
    pub(crate) fn new(
        claimed: Claimed,
        salt: u64,
        writer: Writer,
        resources: Arc<Resources>,
    ) -> Self {
        let Claimed {
            run,
            history,
            signals,
            now,
        } = claimed;
        let hold = Hold {
            run: run.id,
            fence: run.fence,
        };
        Self {
            hold,
            salt,
            writer,
            resources,
            journal: Mutex::new(Journal::new(history, run.direction, run.created_at)),
            paced: None,
            undos: Mutex::default(),
            signals: Mutex::new(signals),
            heard: Notify::new(),
            clock: (Instant::now(), now),
            run,
        }
    }

    /// A task of which an engine keeps the record and the time.
    pub(crate) fn paced(self) -> Self {
        Self {
            paced: Some(Mutex::default()),
            ..self
        }
    }

    pub(crate) fn pace(&self) -> Option<MutexGuard<'_, Paced>> {
        let paced = self.paced.as_ref()?;
        Some(paced.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn undos(&self) -> MutexGuard<'_, Vec<Undo>> {
        self.undos.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn signals(&self) -> MutexGuard<'_, Vec<Signal>> {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The clock of the store, as it was read when the task was claimed, and what has passed since.
    pub(crate) fn store_now(&self) -> Time {
        let (instant, time) = self.clock;
        time.after(instant.elapsed())
    }

    /// What a text from outside makes unique: this thing of this task in this store.
    fn key(&self, seq: i32) -> String {
        format!("{:016x}-{}-{seq}", self.salt, self.run.id)
    }

    /// Something else came in.
    pub(crate) fn tell(&self, signals: Vec<Signal>) {
        *self.signals() = signals;
        self.heard.notify_waiters();
    }

    pub(crate) fn cancel(&self) {
        self.journal().stop(Stop::Cancelled);
        self.heard.notify_waiters();
    }
}

impl Flow {
    pub(crate) const fn new(inner: Arc<Inner>) -> Self {
        Self {
            inner,
            undoes: None,
        }
    }

    /// The flow that the compensation of step `seq` sees.
    pub(crate) fn undoing(&self, seq: i32) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            undoes: Some(seq),
        }
    }

    /// The number of the task.
    pub fn id(&self) -> RunId {
        self.inner.run.id
    }

    /// The key the task was submitted with.
    pub fn key(&self) -> &str {
        &self.inner.run.key
    }

    /// What was submitted along with the task, as a JSON object.
    pub fn headers(&self) -> Option<&str> {
        self.inner.run.headers.as_deref()
    }

    /// The moment of what the workflow heard last, on the clock of the store. When the workflow runs again it is the
    /// same at the same place.
    pub fn now(&self) -> Time {
        self.inner.journal().now()
    }

    /// A random number that is the same when the workflow runs again.
    pub fn random(&self) -> u64 {
        let seq = self.inner.journal().next_seq();
        let task = mix(self.inner.salt ^ self.inner.run.id.0.cast_unsigned());
        mix(task ^ u64::from(seq.unsigned_abs()))
    }

    /// Whether the task goes back: steps that were done are asked how they are undone.
    pub(crate) fn goes_back(&self) -> bool {
        self.undoes.is_none() && self.inner.run.direction != Direction::Forward
    }

    fn seq(&self) -> i32 {
        match self.undoes {
            Some(seq) => seq,
            None => self.inner.journal().next_seq(),
        }
    }

    /// Waits until `seq` has ended, or is to be done now.
    async fn ask(&self, seq: i32, name: &str) -> Asked {
        if self.undoes.is_some() {
            return Asked::New(None);
        }
        if let Some(mut paced) = self.inner.pace() {
            paced.asked(seq, name, None);
        }
        poll_fn(|context| {
            let asked = self.inner.journal().asked(seq, name, context.waker());
            match (&asked, self.inner.pace()) {
                (Asked::Wait, _) => Poll::Pending,
                (Asked::New(_), Some(mut paced)) if !paced.may_begin(seq) => {
                    paced.hold(context.waker());
                    Poll::Pending
                }
                _ => Poll::Ready(asked),
            }
        })
        .await
    }

    /// Where an engine keeps the time: waits until it tells how `seq` ended.
    async fn elsewhere(
        &self,
        seq: i32,
        name: &str,
        wait: impl FnOnce(Time) -> Wait,
    ) -> Option<Record> {
        self.inner.paced.as_ref()?;
        let wait = wait(self.now());
        self.inner.pace()?.asked(seq, name, Some(wait));
        let told = poll_fn(|context| {
            let asked = self.inner.journal().asked(seq, name, context.waker());
            if let Asked::Ended(record) = asked {
                return Poll::Ready(record);
            }
            if let Some(mut paced) = self.inner.pace() {
                paced.hold(context.waker());
            }
            Poll::Pending
        });
        Some(told.await)
    }

    /// Writes down how `seq` ended, and waits until it is the workflow's turn to hear it.
    async fn end(&self, record: Record) -> Record {
        let seq = record.seq;
        // Where an engine keeps the record, it tells what comes next in it.
        let is_ours = self.inner.paced.is_none();
        if is_ours {
            self.inner.journal().ended(record.clone());
        }
        if let Some(standing) = self.write(record).await
            && is_ours
        {
            self.inner.journal().written(seq, standing.now);
        }
        poll_fn(
            |context| match self.inner.journal().delivered(seq, context.waker()) {
                Some(record) => Poll::Ready(record),
                None => Poll::Pending,
            },
        )
        .await
    }

    /// A record that is not on disk when this returns ends the task here: `None`.
    async fn write(&self, record: Record) -> Option<Standing> {
        let _active = Active::new(&self.inner);
        let operation = Operation::Record(self.inner.hold, Box::new(record));
        let written = self.inner.writer.send(operation).await;
        match written {
            Ok(Outcome::Held(standing)) => {
                if standing.cancel_asked && self.undoes.is_none() {
                    self.inner.journal().stop(Stop::Cancelled);
                }
                Some(standing)
            }
            Ok(_) => {
                self.inner.journal().stop(Stop::Lost);
                None
            }
            Err(error) => {
                self.inner.journal().stop(Stop::Failed(error.to_string()));
                None
            }
        }
    }

    fn record(&self, seq: i32, kind: Kind, name: &str) -> Record {
        Record {
            seq,
            kind,
            ord: self.inner.journal().next_ord(),
            name: name.to_owned(),
            attempts: 0,
            result: None,
            error: None,
            due_at: None,
            at: Time::default(),
            fence: self.inner.hold.fence,
        }
    }

    /// Something of this task runs on, so it is not idle.
    fn active(&self) -> Active<'_> {
        Active::new(&self.inner)
    }

    /// Does not go on.
    async fn stop(&self, stop: Stop) -> ! {
        match (stop, self.inner.pace()) {
            // Of an engine the others are told on, as they will be when it runs again.
            (Stop::Failed(message), Some(mut paced)) => paced.failed(message),
            (stop, _) => self.inner.journal().stop(stop),
        }
        std::future::pending().await
    }
}

/// One step of splitmix64.
const fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Counts what is under way.
struct Active<'f>(&'f Inner);

impl<'f> Active<'f> {
    fn new(inner: &'f Inner) -> Self {
        inner.journal().begin();
        Self(inner)
    }
}

impl Drop for Active<'_> {
    fn drop(&mut self) {
        self.0.journal().end();
    }
}

/// A place in the order of what a workflow asked for; told when nobody wants it any more.
struct Place<'f> {
    flow: &'f Flow,
    seq: i32,
}

impl<'f> Place<'f> {
    fn new(flow: &'f Flow) -> Self {
        Self {
            flow,
            seq: flow.seq(),
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if self.flow.undoes.is_none() {
            self.flow.inner.journal().dropped(self.seq);
            if let Some(mut paced) = self.flow.inner.pace() {
                paced.closed(self.seq);
            }
        }
    }
}

/// Until `due` on the clock of the store.
async fn until(inner: &Inner, due: Time) {
    let left = due.since(inner.store_now());
    if left > Duration::ZERO {
        tokio::time::sleep(left).await;
    }
}
