//! Connections by purpose, each opened when it is needed. A process that has little to do shares the one that
//! listens.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::connection::{Connector, Live, costs_the_connection};
use super::sqlstate::store_error;
use crate::store::limits::{self, Limits, within};
use crate::store::{ErrorKind, StoreError};

/// How long a connection stays open that nothing needs.
pub(super) const UNUSED: Duration = Duration::from_secs(10);

/// How long a link waits for the shared connection before it opens its own.
const PATIENCE: Duration = Duration::from_millis(250);

/// The place of the connection that listens. Links use it one at a time, so a link never waits behind more than one
/// statement or transaction of another.
#[derive(Debug, Clone, Default)]
pub(super) struct Shared(Arc<Mutex<Option<Arc<Live>>>>);

/// The shared connection, which no other link uses meanwhile.
pub(super) type Turn = OwnedMutexGuard<Option<Arc<Live>>>;

impl Shared {
    /// Waits until no link uses the connection.
    pub(super) async fn lock(&self) -> Turn {
        Arc::clone(&self.0).lock_owned().await
    }

    /// Returns the connection, unless a link uses it.
    pub(super) fn try_lock(&self) -> Option<Turn> {
        Arc::clone(&self.0).try_lock_owned().ok()
    }

    /// Returns the connection for one use, if there is one that is free soon.
    async fn borrow(&self) -> Option<InUse> {
        // Another link may wait for a slow answer on it. Then a new connection is faster.
        let turn = tokio::time::timeout(PATIENCE, self.lock()).await.ok()?;
        let live = Arc::clone(turn.as_ref().filter(|live| !live.is_over())?);
        Some(InUse {
            live,
            _turn: Some(turn),
        })
    }
}

/// A connection for the time of one use.
#[derive(Debug)]
pub(super) struct InUse {
    live: Arc<Live>,
    _turn: Option<Turn>,
}

impl Deref for InUse {
    type Target = Live;

    fn deref(&self) -> &Live {
        &self.live
    }
}

/// What a link is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// For work: over a connection of its own.
    Work,
    /// For a look, which goes over the shared connection unless its own is open.
    Look,
}

/// The connection of a link.
#[derive(Debug, Default)]
struct Own {
    live: Option<Arc<Live>>,
    /// When it was opened, or needed for work.
    used: Option<Instant>,
    /// The shared connection, if it has the last epoch of the writer.
    raised: Weak<Live>,
}

/// A connection for one purpose.
#[derive(Debug)]
pub(super) struct Link {
    connector: Connector,
    limits: Arc<Limits>,
    statements: Vec<&'static str>,
    /// The writer whose epoch each new connection raises, if this connection writes.
    writer: Option<String>,
    is_used: AtomicBool,
    shared: Shared,
    own: Mutex<Own>,
}

impl Link {
    pub(super) fn new(
        connector: &Connector,
        limits: &Arc<Limits>,
        shared: &Shared,
        statements: Vec<&'static str>,
    ) -> Self {
        Self {
            connector: connector.clone(),
            // Each link doubles its own limit: late answers of lists say nothing about heartbeats.
            limits: Arc::new(limits.of_another_connection()),
            statements,
            writer: None,
            is_used: AtomicBool::new(false),
            shared: shared.clone(),
            own: Mutex::default(),
        }
    }

    /// Makes it the connection of a new writer.
    pub(super) fn of_a_writer(self) -> Self {
        let writer = Some(format!("{:016x}", rand::random::<u64>()));
        Self { writer, ..self }
    }

    /// Opens a new connection if an earlier one is over: it raises the epoch of the writer.
    pub(super) async fn settle(&self) -> Result<(), StoreError> {
        if self.is_used.load(Ordering::Relaxed) {
            self.live(Need::Work).await?;
        }
        Ok(())
    }

    /// Returns a connection; opens a new one if there is none. Each change between a writer's own connection and the
    /// shared one raises the epoch of the writer: only the last connection can commit.
    pub(super) async fn live(&self, need: Need) -> Result<InUse, StoreError> {
        let mut own = self.own.lock().await;
        if let Some(live) = own.live.clone().filter(|live| !live.is_over()) {
            if need == Need::Work {
                own.used = Some(Instant::now());
            }
            return Ok(InUse { live, _turn: None });
        }
        own.live = None;
        // From here on a write may be under way, for which `settle` must wait.
        self.is_used.store(true, Ordering::Relaxed);
        if need == Need::Look
            && let Some(borrowed) = self.shared.borrow().await
        {
            let shared = Arc::downgrade(&borrowed.live);
            // Only for a writer that changes to this connection; as long as it stays, its epoch
            // holds.
            if !Weak::ptr_eq(&own.raised, &shared) {
                self.raise_epoch(&borrowed.live).await?;
                own.raised = shared;
            }
            return Ok(borrowed);
        }
        // The own connection gets the epoch, so the shared one needs a new one before its next
        // write.
        own.raised = Weak::new();
        let live = Live::open(&self.connector, &self.limits, &self.statements).await?;
        self.raise_epoch(&live).await?;
        let live = Arc::new(live);
        own.live = Some(Arc::clone(&live));
        own.used = Some(Instant::now());
        Ok(InUse { live, _turn: None })
    }

    /// Raises the epoch of the writer, if this is one.
    async fn raise_epoch(&self, live: &Live) -> Result<(), StoreError> {
        let Some(writer) = &self.writer else {
            return Ok(());
        };
        let raised = within(self.limits.of_an_opening(), live.raise_epoch(writer)).await;
        // Without its epoch each write on it would fail.
        if raised.is_err() {
            live.close();
        }
        raised
    }

    /// Closes its own connection if nothing has needed it for a while.
    pub(super) fn rest(&self) {
        // A caller that holds the lock needs the connection.
        let Ok(mut own) = self.own.try_lock() else {
            return;
        };
        let is_needed = own.used.is_some_and(|used| used.elapsed() < UNUSED);
        // A long statement may still run on a connection that was not needed since.
        let is_in_use = |live: &Arc<Live>| Arc::strong_count(live) > 1;
        if !is_needed && !own.live.as_ref().is_some_and(is_in_use) {
            own.live = None;
        }
    }

    /// Waits for the result of `work` on a connection, as long as PostgreSQL may take. After an
    /// error that may be over soon the connection is given up: what was sent on it may still take
    /// effect, until a new connection raises the epoch of the writer.
    pub(super) async fn limited<T>(
        &self,
        live: &InUse,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let mut result = self.limits.limited(work).await;
        if let Err(error) = &mut result
            && costs_the_connection(error)
        {
            // What was sent may still arrive: a load balancer may deliver bytes after it has reset
            // the client.
            if error.kind() == ErrorKind::TimedOut {
                live.set_late();
            } else if live.is_late() {
                // Another caller has closed it for this reason.
                *error = limits::timed_out();
            }
            live.close();
            let mut own = self.own.lock().await;
            if own
                .live
                .as_ref()
                // Another caller may have opened a new one meanwhile.
                .is_some_and(|now| Arc::ptr_eq(now, &live.live))
            {
                own.live = None;
            }
        }
        result
    }

    /// Carries out one statement in a transaction of its own.
    pub(super) async fn query(
        &self,
        need: Need,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        let live = self.live(need).await?;
        self.limited(&live, async {
            let statement = live.alone(Box::pin(live.query(sql, values))).await;
            statement.map_err(store_error)
        })
        .await
    }
}
