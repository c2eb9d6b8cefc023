//! The writer of a process puts the writes of many tasks into one transaction (group commit). It
//! does not wait for more writes: those that come while a transaction runs make up the next one.

mod group;
mod job;
mod offers;

use std::sync::Arc;
use std::time::Duration;

use reattempt::{Jitter, Policy};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinSet;

use crate::store::{Claim, ErrorKind, Store, StoreError, Write};
use group::Group;
use job::Job;
pub(crate) use job::Reply;
use offers::{Message, Offer, Offers};
pub(crate) use offers::{Room, Seat};

/// The largest number of writes in one transaction.
const GROUP: usize = 512;

/// The delays between attempts while the store has a passing error.
pub(crate) const DELAYS: Policy = Policy::new()
    .base(Duration::from_millis(20))
    .cap(Duration::from_secs(1))
    .jitter(Jitter::Full);

/// Sends writes to the writer.
#[derive(Debug, Clone)]
pub(crate) struct Writer(mpsc::UnboundedSender<Message>);

impl Writer {
    /// Starts a writer. It ends when nobody can send to it any more.
    pub(crate) fn spawn(
        store: Arc<dyn Store>,
        on_error: impl Fn(&StoreError) + Send + Sync + 'static,
    ) -> Self {
        let (sender, messages) = mpsc::unbounded_channel();
        tokio::spawn(write_all(store, messages, Arc::new(on_error)));
        Self(sender)
    }

    /// Returns a writer whose jobs the caller carries out.
    pub(crate) fn to_engine() -> (Self, Jobs) {
        let (sender, messages) = mpsc::unbounded_channel();
        (Self(sender), Jobs(messages))
    }

    /// Sends a write at once; the future waits for its result only.
    pub(crate) fn send(&self, write: Write) -> impl Future<Output = Reply> + Send + use<> {
        let (reply, receiver) = oneshot::channel();
        self.send_message(Message::Job(Job { write, reply }), receiver)
    }

    /// Offers to claim tasks when there is room and something may have become ready; at once, if
    /// `is_called`. A dropped future withdraws the offer.
    pub(crate) fn offer(
        &self,
        claim: Claim,
        room: Room,
        is_called: bool,
    ) -> impl Future<Output = Reply> + Send + use<> {
        let (reply, receiver) = oneshot::channel();
        let offer = Offer {
            claim,
            room,
            is_called,
            reply,
        };
        self.send_message(Message::Offer(offer), receiver)
    }

    /// Makes all workers with room claim: something may have become ready elsewhere, or because its
    /// time has come.
    pub(crate) fn look(&self) {
        // Without a writer nobody could claim.
        let _ = self.0.send(Message::Look);
    }

    /// Sends a message at once; the future waits for the reply.
    fn send_message(
        &self,
        message: Message,
        receiver: oneshot::Receiver<Reply>,
    ) -> impl Future<Output = Reply> + Send + use<> {
        let sent = self.0.send(message);
        async move {
            let gone = || Arc::new(StoreError::lasting("the runtime of the writer has ended"));
            sent.map_err(|_| gone())?;
            receiver.await.map_err(|_| gone())?
        }
    }
}

/// The writes that an engine carries out.
#[derive(Debug)]
pub(crate) struct Jobs(mpsc::UnboundedReceiver<Message>);

impl Jobs {
    /// Returns the next write whose caller still waits.
    pub(crate) fn next(&mut self) -> Option<(Write, oneshot::Sender<Reply>)> {
        loop {
            match self.0.try_recv().ok()? {
                Message::Job(job) if !job.reply.is_closed() => {
                    return Some((job.write, job.reply));
                }
                _ => {}
            }
        }
    }
}

/// Gets each error of the store.
type OnError = Arc<dyn Fn(&StoreError) + Send + Sync>;

/// Carries out all writes, a transaction at a time.
async fn write_all(
    store: Arc<dyn Store>,
    mut messages: mpsc::UnboundedReceiver<Message>,
    on_error: OnError,
) {
    let mut received = Vec::new();
    let mut offers = Offers::default();
    let mut alone = JoinSet::new();
    let turn = Arc::new(Mutex::new(()));
    while messages.recv_many(&mut received, GROUP).await > 0 {
        while alone.try_join_next().is_some() {}
        let jobs = offers.next_jobs(std::mem::take(&mut received).into_iter());
        let mut group = Group::of(jobs.into_iter());
        let mut failures = 0;
        while let Err(error) = group.write_to(&*store).await {
            if error.is_passing() || group.len() == 1 {
                on_error(&error);
            }
            let error = Arc::new(error);
            if error.kind() == ErrorKind::Locked && group.has(Write::may_wait_for_others) {
                for group in group.take(Write::may_wait_for_others) {
                    let (store, turn) = (Arc::clone(&store), Arc::clone(&turn));
                    alone.spawn(write_alone(group, store, turn, Arc::clone(&on_error)));
                }
            } else if error.is_passing() {
                // Before that, a claim may take place after somebody has given its tasks back.
                settle(&*store, &on_error).await;
                // Nobody knows whether a claim took place; a later one takes other tasks.
                group.refuse(|write| matches!(write, Write::Claim(_)), &error);
                tokio::time::sleep(DELAYS.sample_delay(failures, None, rand::random)).await;
                failures = failures.saturating_add(1);
            } else if group.len() > 1 {
                // The store may be unable to take one of them.
                for mut single in group.take(|_| true) {
                    if let Err(error) = single.write_to(&*store).await {
                        on_error(&error);
                        single.refuse(|_| true, &Arc::new(error));
                    }
                }
            } else {
                group.refuse(|_| true, &error);
            }
        }
    }
    // Their callers may still wait.
    while alone.join_next().await.is_some() {}
}

/// Waits until no earlier write can take effect any more.
async fn settle(store: &dyn Store, on_error: &OnError) {
    let mut failures = 0;
    while let Err(error) = store.settle().await {
        on_error(&error);
        if !error.is_passing() {
            return;
        }
        tokio::time::sleep(DELAYS.sample_delay(failures, None, rand::random)).await;
        failures = failures.saturating_add(1);
    }
}

/// Repeats a write that waits for a lock of somebody else, so that no other write waits with it. One
/// such write at a time has its `turn`.
async fn write_alone(
    mut group: Group,
    store: Arc<dyn Store>,
    turn: Arc<Mutex<()>>,
    on_error: OnError,
) {
    let mut failures = 0;
    while group.is_wanted() {
        tokio::time::sleep(DELAYS.sample_delay(failures, None, rand::random)).await;
        let result = {
            let _turn = turn.lock().await;
            group.write_to(&*store).await
        };
        let Err(error) = result else { return };
        on_error(&error);
        if !error.is_passing() {
            group.refuse(|_| true, &Arc::new(error));
        }
        failures = failures.saturating_add(1);
    }
}
