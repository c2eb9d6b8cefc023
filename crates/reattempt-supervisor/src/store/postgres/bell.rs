//! Notifies other processes that there may be something to claim, or that tasks have ended, and
//! receives their notifications. Workers, and callers that wait for a task, also look at intervals.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reattempt::{Jitter, Policy};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Notify, broadcast, oneshot};
use tokio::task::JoinSet;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Notification};

use super::connection::{Connector, Live};
use super::link::{Link, Need, Shared};
use super::places::Places;
use super::sqlstate::store_error;
use super::{prepared, sql, sweep, whole};
use crate::store::StoreError;
use crate::store::limits::{Limits, within};
use crate::task::TaskId;
use crate::time::Time;

/// The shortest pause between two notifications of one process.
const PAUSE: Duration = Duration::from_millis(5);

/// The shortest pause between two notifications of one process about tasks that have ended.
const PAUSE_OF_ENDS: Duration = Duration::from_millis(20);

/// How many tasks one notification names: PostgreSQL limits it to 8000 bytes.
const NAMED: usize = 350;

/// How many notifications a waiting caller may be behind.
const BEHIND: usize = 64;

/// How often a silent connection is checked, and how long it has for its answer.
const CHECK: Duration = Duration::from_secs(10);

/// What a process says to itself.
const ECHO: &str = "echo";

/// The delays between two attempts to listen.
const DELAYS: Policy = Policy::new()
    .unlimited()
    .base(Duration::from_millis(50))
    .cap(Duration::from_secs(5))
    .jitter(Jitter::Full);

/// Sends and receives notifications until it is dropped.
#[derive(Debug)]
pub(super) struct Bell {
    /// A process ignores its own notifications.
    own: String,
    outgoing: Arc<Stored>,
    incoming: Arc<Notify>,
    ends: Arc<Ends>,
    _at_work: JoinSet<()>,
}

impl Bell {
    pub(super) fn new(
        connector: &Connector,
        limits: &Arc<Limits>,
        (shared, link): (&Shared, &Arc<Link>),
        places: &Arc<Places>,
    ) -> Self {
        let own = format!("{:016x}", rand::random::<u64>());
        let outgoing = Arc::new(Stored::default());
        let incoming = Arc::new(Notify::new());
        let ends = Arc::new(Ends {
            outgoing: Mutex::default(),
            is_set: Notify::new(),
            make_room: AtomicBool::new(false),
            incoming: broadcast::Sender::new(BEHIND),
            here: Notify::new(),
        });
        let listener = Listener {
            connector: connector.clone(),
            limits: Arc::new(limits.of_another_connection()),
            shared: shared.clone(),
            ears: Ears {
                own: own.clone(),
                incoming: Arc::clone(&incoming),
                ends: Arc::clone(&ends),
                places: Arc::clone(places),
            },
        };
        let mut at_work = JoinSet::new();
        at_work.spawn(send_ends(Arc::clone(link), Arc::clone(&ends), own.clone()));
        at_work.spawn(send_notifications(
            Arc::clone(link),
            Arc::clone(&outgoing),
            own.clone(),
        ));
        at_work.spawn(listener.listen());
        Self {
            own,
            outgoing,
            incoming,
            ends,
            _at_work: at_work,
        }
    }

    /// Returns the name of this process in notifications.
    pub(super) fn name(&self) -> &str {
        &self.own
    }

    /// Notifies the other processes, soon: there may be tasks that wake up at this time, or later.
    pub(super) fn ring(&self, since: Time) {
        let mut earliest = self.outgoing.lock();
        *earliest = Some(earliest.map_or(since, |earliest| earliest.min(since)));
        drop(earliest);
        self.outgoing.is_set.notify_one();
    }

    /// Notifies this process.
    pub(super) fn ring_here(&self) {
        self.incoming.notify_waiters();
    }

    /// Notifies the other processes of tasks that may have ended, soon.
    pub(super) fn ring_ends(&self, tasks: impl Iterator<Item = TaskId>) {
        let mut outgoing = self.ends.lock();
        let before = outgoing.len();
        outgoing.extend(tasks.map(|task| task.0));
        if outgoing.len() > before {
            self.ends.is_set.notify_one();
            self.ends.here.notify_waiters();
        }
    }

    /// Sets whether a limit of a queue holds workers of this process back: then they also hear of tasks that
    /// have ended.
    pub(super) fn set_held_back(&self, is_held_back: bool) {
        self.ends.make_room.store(is_held_back, Ordering::Relaxed);
    }

    /// Waits until another process may have ended a task since this call.
    pub(super) fn wait_for_end(&self, task: TaskId) -> impl Future<Output = ()> + Send + use<> {
        // Now, and not when the future is polled: an end between the caller's look and its wait
        // must not be missed.
        let mut incoming = self.ends.incoming.subscribe();
        async move {
            loop {
                match incoming.recv().await {
                    Ok(ended) if !ended.is_empty() && !ended.contains(&task.0) => {}
                    Err(RecvError::Closed) => std::future::pending().await,
                    // Notifications may have been missed.
                    Ok(_) | Err(RecvError::Lagged(_)) => return,
                }
            }
        }
    }

    /// Waits until this process or another one may have ended a task since this call.
    pub(super) fn wait_for_ends(&self) -> impl Future<Output = ()> + Send + '_ {
        let here = self.ends.here.notified();
        let mut incoming = self.ends.incoming.subscribe();
        async move {
            tokio::select! {
                () = here => {}
                // Also if notifications may have been missed.
                _ = incoming.recv() => {}
            }
        }
    }

    /// Waits for a notification of another process.
    pub(super) fn wait(&self) -> impl Future<Output = ()> + Send + '_ {
        self.incoming.notified()
    }
}

/// The tasks that this process has stored and the others do not know yet.
#[derive(Debug, Default)]
struct Stored {
    /// When the first of them wakes up.
    earliest: Mutex<Option<Time>>,
    is_set: Notify,
}

impl Stored {
    fn lock(&self) -> MutexGuard<'_, Option<Time>> {
        self.earliest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notifies the other processes whenever `outgoing` is set.
async fn send_notifications(link: Arc<Link>, outgoing: Arc<Stored>, own: String) {
    loop {
        outgoing.is_set.notified().await;
        let earliest = outgoing.lock().take();
        if let Some(earliest) = earliest {
            let payload = format!("{own} {}", earliest.as_micros());
            // If this fails, other processes look at their intervals.
            let _ = link.query(Need::Look, sql::NOTIFY, &[&payload]).await;
        }
        // What is stored meanwhile goes into one notification.
        tokio::time::sleep(PAUSE).await;
    }
}

/// The tasks that have ended.
#[derive(Debug)]
struct Ends {
    /// Those of this process that the others do not know yet.
    outgoing: Mutex<Vec<i64>>,
    is_set: Notify,
    /// Whether they may make room in a queue with a limit, for a worker of this process.
    make_room: AtomicBool,
    /// Those of other processes. An empty list says that some may be missing.
    incoming: broadcast::Sender<Arc<[i64]>>,
    /// Notified of those of this process.
    here: Notify,
}

impl Ends {
    fn lock(&self) -> MutexGuard<'_, Vec<i64>> {
        self.outgoing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Names the tasks that have ended to the other processes.
async fn send_ends(link: Arc<Link>, ends: Arc<Ends>, own: String) {
    loop {
        ends.is_set.notified().await;
        // After the commit, and not in the transaction: notifications make commits wait for each
        // other, 1,306 in place of 9,510 a second.
        let mut left = std::mem::take(&mut *ends.lock()).into_iter();
        loop {
            let tasks = left.by_ref().take(NAMED).map(|task| task.to_string());
            let tasks: Vec<_> = tasks.collect();
            if tasks.is_empty() {
                break;
            }
            let payload = format!("{own} {}", tasks.join(","));
            // If this fails, other processes look at their intervals.
            let _ = link.query(Need::Look, sql::NOTIFY_ENDS, &[&payload]).await;
        }
        tokio::time::sleep(PAUSE_OF_ENDS).await;
    }
}

/// The receivers in this process of what other processes notify.
#[derive(Debug, Clone)]
struct Ears {
    own: String,
    incoming: Arc<Notify>,
    ends: Arc<Ends>,
    places: Arc<Places>,
}

impl Ears {
    /// Passes a notification on, unless it comes from this process.
    fn hear(&self, notification: &Notification) {
        let Some((sender, said)) = notification.payload().split_once(' ') else {
            return;
        };
        if sender == self.own {
            // Its own notification has come through, so those of others do, too.
            if said == ECHO {
                self.places.set_can_hear(true);
            }
            return;
        }
        match notification.channel() {
            "retry_stored" => {
                let since = Time::from_micros(said.parse().unwrap_or_default());
                self.places.take_back(since);
                self.incoming.notify_waiters();
            }
            "retry_looked" => {
                if whole::hear(said, &self.places) {
                    self.incoming.notify_waiters();
                }
            }
            _ => {
                let tasks = said.split(',').filter_map(|task| task.parse().ok());
                // The end of a task frees its place in a queue with a limit.
                if self.ends.make_room.load(Ordering::Relaxed) {
                    self.incoming.notify_waiters();
                }
                // There may be no receiver.
                let _ = self.ends.incoming.send(tasks.collect());
            }
        }
    }

    /// Notes that notifications may have been missed.
    fn have_missed(&self) {
        self.incoming.notify_waiters();
        let _ = self.ends.incoming.send(Arc::default());
    }
}

/// Listens on the shared connection.
struct Listener {
    connector: Connector,
    limits: Arc<Limits>,
    shared: Shared,
    ears: Ears,
}

impl Listener {
    /// Listens for ever, and connects again when the connection is lost.
    async fn listen(self) {
        let mut failures = 0;
        loop {
            // Others wait for it a little.
            let mut shared = self.shared.lock().await;
            *shared = None;
            if let Ok((live, over)) = self.open().await {
                let live = Arc::new(live);
                *shared = Some(Arc::clone(&live));
                drop(shared);
                failures = 0;
                // Others may have notified while this process did not listen.
                self.ears.have_missed();
                self.watch(&live, over).await;
                live.close();
            } else {
                drop(shared);
            }
            self.ears.places.set_can_hear(false);
            tokio::time::sleep(DELAYS.sample_delay(failures, None, rand::random)).await;
            failures = failures.saturating_add(1);
        }
    }

    /// Opens the connection. Also returns a future that ends when it is over.
    async fn open(&self) -> Result<(Live, oneshot::Receiver<()>), StoreError> {
        let (is_open, over) = oneshot::channel();
        let ears = self.ears.clone();
        let hear = move |message| {
            // The closure owns the sender, which is dropped with the connection.
            let _ = &is_open;
            if let AsyncMessage::Notification(notification) = message {
                ears.hear(&notification);
            }
        };
        let statements = [sweep::LOOKS, prepared::LOOKS].concat();
        let live = Live::open_with(&self.connector, &self.limits, &statements, hear).await?;
        let listening = live
            .client
            .batch_execute("LISTEN retry_stored; LISTEN retry_looked; LISTEN retry_ended");
        within(CHECK, async { listening.await.map_err(store_error) }).await?;
        Ok((live, over))
    }

    /// Waits until the connection is over.
    async fn watch(&self, live: &Live, mut over: oneshot::Receiver<()>) {
        loop {
            if !self.ears.places.can_hear() {
                // If this fails, the process goes on as one that cannot hear.
                let _ = self.call().await;
            }
            if tokio::time::timeout(CHECK, &mut over).await.is_ok() || live.is_over() {
                return;
            }
            // A connection that the network has cut off looks silent for ever. If a caller uses it now,
            // that caller notices the loss.
            if let Some(_turn) = self.shared.try_lock() {
                let answer = tokio::time::timeout(CHECK, live.client.batch_execute("")).await;
                if !matches!(answer, Ok(Ok(()))) {
                    return;
                }
            }
        }
    }

    /// Notifies this process on another connection: a pool between this process and the server may let it listen, and
    /// pass nothing on.
    async fn call(&self) -> Result<(), StoreError> {
        let statements = [whole::REPORT];
        let live = Live::open(&self.connector, &self.limits, &statements).await?;
        let payload = format!("{} {ECHO}", self.ears.own);
        let values: [&(dyn ToSql + Sync); 1] = [&payload];
        let calling = async {
            live.alone(Box::pin(live.query(whole::REPORT, &values)))
                .await
                .map_err(store_error)
        };
        self.limits.limited(calling).await?;
        Ok(())
    }
}
