//! The one who writes for a process: what many tasks want to write goes into one transaction (group commit). Nobody
//! waits for company: what has come while the last transaction ran makes up the next.

mod offers;

use std::sync::Arc;
use std::time::Duration;

use reattempt::{Jitter, Policy};
use tokio::sync::{mpsc, oneshot};

use crate::store::{Claim, Operation, Outcome, Store, StoreError};
use offers::{Offer, Offers};
pub(crate) use offers::{Room, Seat};

/// Operations in one transaction at most.
const GROUP: usize = 512;

/// Between two tries while a store has passing trouble.
const DELAYS: Policy = Policy::new()
    .base(Duration::from_millis(20))
    .cap(Duration::from_secs(1))
    .jitter(Jitter::Full);

/// What became of an operation; the error is shared with the others of its transaction.
pub(crate) type Written = Result<Outcome, Arc<StoreError>>;

#[derive(Debug)]
enum Message {
    Job(Job),
    Offer(Offer),
    Look,
}

struct Job {
    operation: Operation,
    reply: oneshot::Sender<Written>,
}

/// The way to the writer.
#[derive(Debug, Clone)]
pub(crate) struct Writer(mpsc::UnboundedSender<Message>);

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.operation.fmt(f)
    }
}

impl Writer {
    /// A writer that ends when nobody can write to it any more.
    pub(crate) fn spawn(
        store: Arc<dyn Store>,
        trouble: impl Fn(&StoreError) + Send + 'static,
    ) -> Self {
        let (sender, messages) = mpsc::unbounded_channel();
        tokio::spawn(write(store, messages, trouble));
        Self(sender)
    }

    /// A writer of which somebody else carries out the jobs.
    pub(crate) fn to_engine() -> (Self, Jobs) {
        let (sender, messages) = mpsc::unbounded_channel();
        (Self(sender), Jobs(messages))
    }

    /// In order; what is waited for is the answer alone.
    pub(crate) fn send(
        &self,
        operation: Operation,
    ) -> impl Future<Output = Written> + Send + use<> {
        let (reply, answer) = oneshot::channel();
        self.answered(Message::Job(Job { operation, reply }), answer)
    }

    /// A claim that is made when there is room and something may have become ready; at once, if `is_called`. Dropped, it is not made.
    pub(crate) fn offer(
        &self,
        claim: Claim,
        room: Room,
        is_called: bool,
    ) -> impl Future<Output = Written> + Send + use<> {
        let (reply, answer) = oneshot::channel();
        let offer = Offer {
            claim,
            room,
            is_called,
            reply,
        };
        self.answered(Message::Offer(offer), answer)
    }

    /// Has all claims made for which there is room: something may have become ready elsewhere, or with time.
    pub(crate) fn look(&self) {
        // Without a writer there is nobody who could claim.
        let _ = self.0.send(Message::Look);
    }

    fn answered(
        &self,
        message: Message,
        answer: oneshot::Receiver<Written>,
    ) -> impl Future<Output = Written> + Send + use<> {
        let sent = self.0.send(message);
        async move {
            let gone = || Arc::new(StoreError::lasting("the runtime of the writer has ended"));
            sent.map_err(|_| gone())?;
            answer.await.map_err(|_| gone())?
        }
    }
}

/// What is written to an engine.
#[derive(Debug)]
pub(crate) struct Jobs(mpsc::UnboundedReceiver<Message>);

impl Jobs {
    /// The next that somebody still waits for.
    pub(crate) fn next(&mut self) -> Option<(Operation, oneshot::Sender<Written>)> {
        loop {
            match self.0.try_recv().ok()? {
                Message::Job(job) if !job.reply.is_closed() => {
                    return Some((job.operation, job.reply));
                }
                _ => {}
            }
        }
    }
}

async fn write(
    store: Arc<dyn Store>,
    mut messages: mpsc::UnboundedReceiver<Message>,
    trouble: impl Fn(&StoreError),
) {
    let mut received = Vec::new();
    let mut offers = Offers::default();
    while messages.recv_many(&mut received, GROUP).await > 0 {
        let jobs = offers.sorted(std::mem::take(&mut received).into_iter());
        let mut group = Group::of(jobs.into_iter());
        let mut failures = 0;
        while let Err(error) = group.written(&*store).await {
            trouble(&error);
            let error = Arc::new(error);
            if error.is_passing() {
                // Nobody can tell whether a claim took place; a later one takes other tasks.
                group.refuse(|operation| matches!(operation, Operation::Claim(_)), &error);
                tokio::time::sleep(DELAYS.sample_delay(failures, None, rand::random)).await;
                failures = failures.saturating_add(1);
            } else if group.jobs.len() > 1 {
                // One of them may be what the store cannot take.
                for mut alone in group.apart() {
                    if let Err(error) = alone.written(&*store).await {
                        alone.refuse(|_| true, &Arc::new(error));
                    }
                }
            } else {
                group.refuse(|_| true, &error);
            }
        }
    }
}

/// What goes into one transaction, and who waits for it.
struct Group {
    operations: Arc<[Operation]>,
    jobs: Vec<oneshot::Sender<Written>>,
}

impl Group {
    fn of(jobs: impl Iterator<Item = Job>) -> Self {
        let (operations, jobs): (Vec<_>, _) = jobs.map(|job| (job.operation, job.reply)).unzip();
        Self {
            operations: operations.into(),
            jobs,
        }
    }

    /// Carries it out; on success everybody has an answer, and nothing is left.
    async fn written(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        if self.jobs.is_empty() {
            return Ok(());
        }
        let outcomes = store.write(Arc::clone(&self.operations)).await?;
        let mut outcomes = outcomes.into_iter();
        for reply in std::mem::take(&mut self.jobs) {
            let missing = || StoreError::lasting("the store left an operation without an outcome");
            let outcome = outcomes.next().ok_or_else(|| Arc::new(missing()));
            // Whoever asked may be gone.
            let _ = reply.send(outcome);
        }
        Ok(())
    }

    /// Answers some with an error and keeps the others.
    fn refuse(&mut self, which: impl Fn(&Operation) -> bool, error: &Arc<StoreError>) {
        let (refused, kept): (Vec<_>, Vec<_>) = self.take().partition(|job| which(&job.operation));
        for job in refused {
            let _ = job.reply.send(Err(Arc::clone(error)));
        }
        *self = Self::of(kept.into_iter());
    }

    fn apart(&mut self) -> Vec<Self> {
        let alone = |job| Self::of(std::iter::once(job));
        self.take().map(alone).collect()
    }

    fn take(&mut self) -> impl Iterator<Item = Job> + use<> {
        let operations: Vec<_> = self.operations.iter().cloned().collect();
        let jobs = std::mem::take(&mut self.jobs);
        operations
            .into_iter()
            .zip(jobs)
            .map(|(operation, reply)| Job { operation, reply })
    }
}
