//! A connection to PostgreSQL, with its prepared statements.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::Instant;
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::ToSql;
use tokio_postgres::{
    AsyncMessage, Client, Config, Error, GenericClient, IsolationLevel, Row, Socket, Statement,
    Transaction,
};

use super::pipeline::{self, Sent};
use super::sql;
use super::sqlstate::{reconnect_error, store_error};
use crate::store::limits::{Limits, within};
use crate::store::{ErrorKind, StoreError};

/// How long connecting to one host may take, unless the configuration has a limit.
const CONNECT: Duration = Duration::from_secs(2);

/// How long sent data may stay unacknowledged.
const UNACKNOWLEDGED: Duration = Duration::from_secs(20);

/// When a silent connection is asked whether it is alive, how often, and how many times.
const KEEPALIVES: (Duration, Duration, u32) = (Duration::from_secs(5), Duration::from_secs(2), 3);

/// The interval of `tokio-postgres`, which is too long for us.
const KEEPALIVES_IDLE: Duration = Duration::from_secs(2 * 60 * 60);

/// How long a connection is used. A supervisor forgets the epochs of writers that are much older.
const LIFE: Duration = Duration::from_secs(24 * 60 * 60);

/// The name of the setting by which a connection knows its server process. A pool that refuses or
/// ignores it may give the server process to other clients, too.
const MARK: &str = "reattempt.session";

/// Opens a connection with this mark.
type Connect = dyn Fn(Option<&str>) -> Connecting + Send + Sync;

/// The future of a new connection.
type Connecting = Pin<Box<dyn Future<Output = Result<(Client, Driver), Error>> + Send>>;

/// Drives a connection, and returns the messages that the server sends by itself.
pub(super) type Driver =
    Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<Result<AsyncMessage, Error>>> + Send>;

/// Opens connections.
#[derive(Clone)]
pub(super) struct Connector {
    connect: Arc<Connect>,
    /// How long connecting to all hosts may take.
    limit: Duration,
    /// Whether the database has answered before.
    // A wrong name is an error of the configuration, and the same error later is an outage.
    is_known: Arc<AtomicBool>,
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connector")
    }
}

impl Connector {
    pub(super) fn new<T>(mut config: Config, tls: T) -> Self
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(UNACKNOWLEDGED);
        }
        if config.get_keepalives_idle() >= KEEPALIVES_IDLE {
            config.keepalives_idle(KEEPALIVES.0);
        }
        if config.get_keepalives_interval().is_none() {
            config.keepalives_interval(KEEPALIVES.1);
        }
        if config.get_keepalives_retries().is_none() {
            config.keepalives_retries(KEEPALIVES.2);
        }
        if config.get_application_name().is_none() {
            config.application_name("reattempt-supervisor");
        }
        // The client tries one host after the other.
        let hosts = u32::try_from(config.get_hosts().len().max(1)).unwrap_or(u32::MAX);
        let of_one = *config.get_connect_timeout().unwrap_or(&CONNECT);
        let connect: Arc<Connect> = Arc::new(move |mark| {
            let (mut config, tls) = (config.clone(), tls.clone());
            if let Some(mark) = mark {
                let own = config.get_options().unwrap_or_default();
                let options = format!("{own} -c {MARK}={mark}");
                config.options(&options);
            }
            Box::pin(async move {
                let (client, mut connection) = config.connect(tls).await?;
                let driver: Driver = Box::new(move |cx| connection.poll_message(cx));
                Ok((client, driver))
            })
        });
        Self {
            connect,
            limit: of_one.saturating_mul(hosts),
            is_known: Arc::default(),
        }
    }

    pub(super) async fn connect(&self) -> Result<(Client, Driver), StoreError> {
        self.known((self.connect)(None).await)
    }

    /// Converts an error. A database that was there before is away for a while; another name is wrong.
    fn known<T>(&self, connected: Result<T, Error>) -> Result<T, StoreError> {
        let is_known = self.is_known.load(Ordering::Relaxed);
        self.is_known
            .store(is_known || connected.is_ok(), Ordering::Relaxed);
        connected.map_err(if is_known {
            reconnect_error
        } else {
            store_error
        })
    }

    /// Connects, and marks the server process. A pool may refuse marks.
    async fn connect_with(&self, mark: &str) -> Result<(Client, Driver), StoreError> {
        match (self.connect)(Some(mark)).await {
            Err(error) if error.code() == Some(&SqlState::PROTOCOL_VIOLATION) => {
                self.connect().await
            }
            result => self.known(result),
        }
    }
}

/// Prepared statements, by their text.
#[derive(Debug)]
pub(super) struct Prepared(HashMap<&'static str, Statement>);

impl Prepared {
    /// Sends a statement. It is sent when the future is polled first.
    pub(super) async fn query(
        &self,
        client: &impl GenericClient,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        let statement = self.0.get(sql);
        // One that waits until it is prepared is sent after the COMMIT of its transaction.
        debug_assert!(statement.is_some(), "not in a list of statements: {sql}");
        match statement {
            Some(statement) => client.query(statement, values).await,
            None => client.query(sql, values).await,
        }
    }
}

/// Returns whether the connection must not be used any more after this error: it may be lost, or
/// lead to a server that cannot write.
pub(super) fn costs_the_connection(error: &StoreError) -> bool {
    matches!(error.kind(), ErrorKind::Passing | ErrorKind::TimedOut)
}

/// What a transaction of a writer begins with.
pub(super) struct Check {
    writer: String,
    epoch: i64,
    lock_limit: String,
}

impl Check {
    /// Returns the values of [`sql::checked`].
    pub(super) fn values(&self) -> [&(dyn ToSql + Sync); 3] {
        [&self.writer, &self.epoch, &self.lock_limit]
    }
}

/// Returns a limit for a setting of PostgreSQL, where 0 would be none.
fn millis(limit: Duration) -> u64 {
    u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).max(1)
}

/// A connection that several callers share: a statement does not wait for the results of earlier
/// ones.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) client: Client,
    prepared: Prepared,
    limits: Arc<Limits>,
    /// The writer and its epoch, if the connection writes. Its transactions are rolled back after
    /// another connection of the writer has raised the epoch.
    writer: Mutex<Option<(String, i64)>>,
    /// The limit of the session in milliseconds. `None` if the settings must not outlive a transaction,
    /// because others may share the server process (`PgBouncer`).
    session: Option<AtomicU64>,
    driver: AbortHandle,
    opened: Instant,
    /// Whether an answer did not come in time.
    is_late: AtomicBool,
}

impl Live {
    /// Opens a connection and prepares these statements.
    pub(super) async fn open(
        connector: &Connector,
        limits: &Arc<Limits>,
        statements: &[&'static str],
    ) -> Result<Self, StoreError> {
        Self::open_with(connector, limits, statements, |_| {}).await
    }

    /// The same; `hear` gets what the server sends by itself, and is dropped when the connection is over.
    pub(super) async fn open_with(
        connector: &Connector,
        limits: &Arc<Limits>,
        statements: &[&'static str],
        hear: impl FnMut(AsyncMessage) + Send + 'static,
    ) -> Result<Self, StoreError> {
        let limit = connector.limit.saturating_add(limits.of_an_opening());
        let opening = Self::open_without_limit(connector, limits, statements, hear);
        within(limit, opening).await
    }

    async fn open_without_limit(
        connector: &Connector,
        limits: &Arc<Limits>,
        statements: &[&'static str],
        mut hear: impl FnMut(AsyncMessage) + Send + 'static,
    ) -> Result<Self, StoreError> {
        let mark = format!("{:016x}", rand::random::<u64>());
        let (client, mut driver) = connector.connect_with(&mark).await?;
        let driver = tokio::spawn(std::future::poll_fn(move |cx| {
            loop {
                match driver(cx) {
                    Poll::Ready(Some(Ok(message))) => hear(message),
                    // Callers that wait for a result get the error.
                    Poll::Ready(None | Some(Err(_))) => return Poll::Ready(()),
                    Poll::Pending => return Poll::Pending,
                }
            }
        }));
        let mut live = Self {
            client,
            prepared: Prepared(HashMap::new()),
            limits: Arc::clone(limits),
            writer: Mutex::default(),
            session: None,
            driver: driver.abort_handle(),
            opened: Instant::now(),
            is_late: AtomicBool::new(false),
        };
        let limit = millis(limits.current());
        let limit_text = limit.to_string();
        let values: [&(dyn ToSql + Sync); 2] = [&limit_text, &mark];
        // A row comes only from a server process with the mark. A pool that drops the mark may give
        // the process to others between transactions, so the settings come first in each
        // transaction then.
        let marked = live.client.query_opt(sql::MARKED_SETTINGS, &values);
        let statements = [sql::SETTINGS, sql::SESSION_SETTINGS]
            .iter()
            .chain(statements);
        let preparing = statements.map(|sql| -> Sent<'_, _> {
            let client = &live.client;
            Box::pin(async move { Ok((*sql, client.prepare(sql).await?)) })
        });
        let (marked, prepared) = tokio::join!(marked, pipeline::together(preparing.collect()));
        let is_marked = marked.map_err(store_error)?.is_some();
        live.prepared = Prepared(prepared.map_err(store_error)?.into_iter().collect());
        live.session = is_marked.then(|| AtomicU64::new(limit));
        Ok(live)
    }

    /// Raises the epoch of a writer: from here on no other connection of the writer can commit.
    pub(super) async fn raise_epoch(&self, writer: &str) -> Result<(), StoreError> {
        // A transaction that still runs holds the lock. If we may not end it, we wait.
        let _ = self.query(sql::END_WRITER, &[&writer]).await;
        // A transaction that has passed its check holds the lock to its end, so whatever was sent
        // before has been committed or will fail when the epoch is raised.
        let lock: Sent<'_> = Box::pin(async { self.query(sql::LOCK_WRITER, &[&writer]).await });
        let raise: Sent<'_> = Box::pin(async { self.query(sql::RAISE_EPOCH, &[&writer]).await });
        let rows = self.transaction(vec![lock, raise]).await;
        let rows = rows.map_err(store_error)?;
        let row = rows.last().and_then(|rows| rows.first());
        let row = row.ok_or_else(|| StoreError::lasting("PostgreSQL has not raised an epoch"))?;
        *self.writer() = Some((writer.to_owned(), row.get(0)));
        Ok(())
    }

    fn writer(&self) -> MutexGuard<'_, Option<(String, i64)>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a statement. It is sent when the future is polled first.
    pub(super) async fn query(
        &self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        self.prepared.query(&self.client, sql, values).await
    }

    /// Returns what every transaction of a writer begins with, for [`sql::checked`]: the writer, its
    /// epoch, and how long a lock is waited for.
    pub(super) fn check(&self, lock_limit: Option<Duration>) -> Check {
        let half = self.limits.current().checked_div(2).unwrap_or_default();
        let lock_limit = half.min(lock_limit.unwrap_or(half));
        let (writer, epoch) = self.writer().clone().unwrap_or_default();
        Check {
            writer,
            epoch,
            lock_limit: millis(lock_limit).to_string(),
        }
    }

    /// Begins a transaction.
    pub(super) async fn begin(&mut self) -> Result<(Transaction<'_>, &Prepared), Error> {
        let limit = millis(self.limits.current());
        let is_set = self.is_set(limit);
        let builder = self.client.build_transaction();
        // Each statement must see what others have committed while it waited for a lock.
        let builder = builder.isolation_level(IsolationLevel::ReadCommitted);
        let transaction = builder.start().await?;
        if !is_set {
            let limit = limit.to_string();
            self.prepared
                .query(&transaction, sql::SETTINGS, &[&limit])
                .await?;
        }
        Ok((transaction, &self.prepared))
    }

    /// Returns whether the settings of the session are those of a transaction with this limit.
    fn is_set(&self, limit: u64) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.load(Ordering::Relaxed) == limit)
    }

    /// Carries out one statement in a transaction of its own, in one round trip.
    pub(super) async fn alone<'a>(&'a self, statement: Sent<'a>) -> Result<Vec<Row>, Error> {
        // PostgreSQL makes a transaction of a single statement, without `BEGIN` and `COMMIT`.
        if self.is_set(millis(self.limits.current())) {
            return statement.await;
        }
        let answers = self.transaction(vec![statement]).await?;
        Ok(answers.into_iter().next().unwrap_or_default())
    }

    /// Carries out statements in one transaction and one round trip.
    pub(super) async fn transaction<'a>(
        &'a self,
        statements: Vec<Sent<'a>>,
    ) -> Result<Vec<Vec<Row>>, Error> {
        let limit = millis(self.limits.current());
        if self.is_set(limit) {
            return pipeline::transaction(&self.client, statements).await;
        }
        // The limit has changed: an answer was late, or a worker has a shorter lease.
        let sql = match self.session {
            Some(_) => sql::SESSION_SETTINGS,
            None => sql::SETTINGS,
        };
        let set: Sent<'a> = Box::pin(async move { self.query(sql, &[&limit.to_string()]).await });
        let all = std::iter::once(set).chain(statements).collect();
        let answers = pipeline::transaction(&self.client, all).await?;
        // After the commit: a rollback would have taken the settings back.
        if let Some(session) = &self.session {
            session.store(limit, Ordering::Relaxed);
        }
        Ok(answers.into_iter().skip(1).collect())
    }

    /// Returns whether another connection should be opened.
    pub(super) fn is_over(&self) -> bool {
        // A connection of a day is replaced, so that a supervisor may forget epochs that are a week
        // old.
        self.client.is_closed() || self.driver.is_finished() || self.opened.elapsed() > LIFE
    }

    /// Notes that an answer did not come in time.
    pub(super) fn set_late(&self) {
        self.is_late.store(true, Ordering::Relaxed);
    }

    /// Returns whether an answer did not come in time.
    pub(super) fn is_late(&self) -> bool {
        self.is_late.load(Ordering::Relaxed)
    }

    /// Closes the connection, whatever is under way.
    pub(super) fn close(&self) {
        self.driver.abort();
    }
}
