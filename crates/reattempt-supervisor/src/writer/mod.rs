//! The writer of a process puts the writes of many tasks into one transaction (group commit). It
//! does not wait for more writes: those that come while a transaction runs make up the next one.

mod group;
mod job;
mod locked;
mod offers;
mod seats;

use std::sync::Arc;
use std::time::Duration;

use reattempt::{Jitter, Policy};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinSet;

use crate::store::{Claim, ErrorKind, Store, StoreError, StoreFuture, Write, WriteResult};
use crate::task::TaskId;
use group::Group;
pub(crate) use job::Reply;
use job::{Job, ReplyTo};
use locked::Locked;
use offers::{Message, Offer, Offers};
pub(crate) use seats::{Seat, Seats};

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
    /// Starts a writer. It ends with its last sender.
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
        let reply = reply.into();
        let sent = self.0.send(Message::Job(Job { write, reply }));
        async move {
            let gone = || Arc::new(StoreError::lasting("the runtime of the writer has ended"));
            sent.map_err(|_| gone())?;
            receiver.await.map_err(|_| gone())?
        }
    }

    /// Claims tasks whenever the seats are open, one is free, and something may have become ready. Returns the
    /// results of the claims; dropping the receiver ends the claims. Claims a suspect once, unless no seat is free.
    pub(crate) fn offer(&self, claim: Claim, seats: Seats) -> mpsc::UnboundedReceiver<Reply> {
        let (replies, receiver) = mpsc::unbounded_channel();
        let offer = Offer {
            claim,
            seats,
            replies,
        };
        // Without a writer there are no results.
        let _ = self.0.send(Message::Offer(offer));
        receiver
    }

    /// Makes all workers with free seats claim: something may have become ready elsewhere, or because its
    /// time has come.
    pub(crate) fn look(&self) {
        // Without a writer there are no claims.
        let _ = self.0.send(Message::Look);
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
                Message::Job(Job {
                    write,
                    reply: ReplyTo::Caller(reply),
                }) if !reply.is_closed() => return Some((write, reply)),
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
    let mut apart = Apart::new(&store, &on_error);
    let mut locked = Locked::default();
    let mut is_closed = false;
    // Groups apart are written to their end, also after the last sender has gone.
    while !is_closed || apart.is_busy() {
        tokio::select! {
            biased;
            // These are few, and there may always be another message.
            task = apart.next_end(), if apart.is_busy() => {
                let next = task.and_then(|task| Some((task, locked.next_jobs(task)?)));
                if let Some((task, jobs)) = next {
                    apart.write(Group::of(jobs.into_iter()), Some(task));
                }
            }
            count = messages.recv_many(&mut received, GROUP), if !is_closed => is_closed = count == 0,
        }
        // Claims come last, so that they find what the same transaction stores, without another
        // round trip.
        let jobs = offers.next_jobs(std::mem::take(&mut received).into_iter());
        // Later writes of a locked task queue up behind its first ones. In this group they would
        // overtake them, or wait for the same lock.
        let mut group = Group::of(locked.keep(jobs).into_iter());
        let mut failures = 0;
        while let Err(error) = group.write_to(&*store, together).await {
            let tasks = error.locked_tasks();
            // The group has written nothing. An application may keep its transaction open for long,
            // so the writes of locked tasks go on apart, and all others are repeated at once.
            if !tasks.is_empty() {
                for task in tasks {
                    locked.add(*task);
                }
                group.leave_to(&mut locked);
                for task in tasks {
                    if let Some(jobs) = locked.next_jobs(*task) {
                        apart.write(Group::of(jobs.into_iter()), Some(*task));
                    }
                }
                continue;
            }
            // A lasting error of several writes is reported below, for the single write that causes
            // it.
            if error.is_passing() || group.len() == 1 {
                on_error(&error);
            }
            // No task is locked, so it is a key that an application submits in an open transaction.
            // Writes that may wait for it are repeated alone, so that they do not wait for each
            // other.
            if error.kind() == ErrorKind::Locked && group.has(Write::may_wait_for_others) {
                for group in group.take(Write::may_wait_for_others) {
                    apart.write(group, None);
                }
            } else if error.is_passing() {
                // Before that, a claim may take place after its tasks were given back.
                settle(&*store, &on_error).await;
                // Whether a claim took place is unknown; a later one takes other tasks.
                group.refuse(|write| matches!(write, Write::Claim(_)), &Arc::new(error));
                // The rest is repeated as a whole. Each write but a claim finds what it has done
                // before: a key, a record in its place, a state under its fence.
                tokio::time::sleep(DELAYS.sample_delay(failures, None, rand::random)).await;
                failures = failures.saturating_add(1);
            } else {
                group.write_each(&*store, together, error, &on_error).await;
            }
        }
    }
}

/// Carries out the writes of a group in a transaction like all others.
fn together(store: &dyn Store, writes: Arc<[Write]>) -> StoreFuture<'_, Vec<WriteResult>> {
    store.write(writes)
}

/// Carries out the writes of a group in a transaction that delays no others.
fn apart(store: &dyn Store, writes: Arc<[Write]>) -> StoreFuture<'_, Vec<WriteResult>> {
    store.write_apart(writes)
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

/// The groups that wait for locks, so that no other write waits with them.
struct Apart {
    store: Arc<dyn Store>,
    on_error: OnError,
    /// One group at a time has its turn.
    turn: Arc<Mutex<()>>,
    groups: JoinSet<Option<TaskId>>,
}

impl Apart {
    fn new(store: &Arc<dyn Store>, on_error: &OnError) -> Self {
        Self {
            store: Arc::clone(store),
            on_error: Arc::clone(on_error),
            turn: Arc::default(),
            groups: JoinSet::new(),
        }
    }

    fn is_busy(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Repeats a group until it is written or no caller waits for it. With `task`, all its writes are
    /// those of this locked task.
    fn write(&mut self, group: Group, task: Option<TaskId>) {
        let (store, turn) = (Arc::clone(&self.store), Arc::clone(&self.turn));
        let writing = write_apart(group, store, turn, Arc::clone(&self.on_error));
        self.groups.spawn(async move {
            writing.await;
            task
        });
    }

    /// Waits for the end of a group, and returns its task.
    async fn next_end(&mut self) -> Option<TaskId> {
        self.groups.join_next().await?.ok()?
    }
}

async fn write_apart(
    mut group: Group,
    store: Arc<dyn Store>,
    turn: Arc<Mutex<()>>,
    on_error: OnError,
) {
    let mut failures = 0;
    while group.is_wanted() {
        let result = {
            // The groups share one connection. A second group would wait there behind the first,
            // while its own limit runs.
            let _turn = turn.lock().await;
            group.write_to(&*store, apart).await
        };
        let Err(error) = result else { return };
        on_error(&error);
        if error.is_passing() {
            tokio::time::sleep(DELAYS.sample_delay(failures, None, rand::random)).await;
            failures = failures.saturating_add(1);
        } else {
            group.write_each(&*store, apart, error, &on_error).await;
        }
    }
}
