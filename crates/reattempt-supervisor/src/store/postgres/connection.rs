//! A connection that is replaced when it is lost.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::ToSql;
use tokio_postgres::{
    AsyncMessage, Client, Config, Error, GenericClient, IsolationLevel, Row, Socket, Statement,
    Transaction,
};

use super::limits::{self, Limits, within};
use super::pipeline::{self, Sent};
use super::sql;
use super::sqlstate::store_error;
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

/// The future of a new connection.
type Connecting = Pin<Box<dyn Future<Output = Result<(Client, Driver), Error>> + Send>>;

/// Drives a connection, and returns the messages that the server sends by itself.
pub(super) type Driver =
    Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<Result<AsyncMessage, Error>>> + Send>;

/// Opens connections.
#[derive(Clone)]
pub(super) struct Connector {
    connect: Arc<dyn Fn() -> Connecting + Send + Sync>,
    /// How long connecting to all hosts may take.
    limit: Duration,
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
        let hosts = u32::try_from(config.get_hosts().len().max(1)).unwrap_or(u32::MAX);
        let of_one = *config.get_connect_timeout().unwrap_or(&CONNECT);
        let connect: Arc<dyn Fn() -> Connecting + Send + Sync> = Arc::new(move || {
            let (config, tls) = (config.clone(), tls.clone());
            Box::pin(async move {
                let (client, mut connection) = config.connect(tls).await?;
                let driver: Driver = Box::new(move |cx| connection.poll_message(cx));
                Ok((client, driver))
            })
        });
        Self {
            connect,
            limit: of_one.saturating_mul(hosts),
        }
    }

    pub(super) async fn connect(&self) -> Result<(Client, Driver), StoreError> {
        (self.connect)().await.map_err(store_error)
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
        match self.0.get(sql) {
            Some(statement) => client.query(statement, values).await,
            None => client.query(sql, values).await,
        }
    }

    /// Sends the settings of a transaction: how long a statement may take, and how long it may wait
    /// for a lock, which is at most half of that. It fails if the writer has a later epoch.
    async fn set_up(
        &self,
        client: &impl GenericClient,
        limit: Duration,
        lock_limit: Duration,
        writer: Option<&(String, i64)>,
    ) -> Result<Vec<Row>, Error> {
        let lock_limit = limit.checked_div(2).unwrap_or_default().min(lock_limit);
        let millis = |limit: Duration| limit.as_millis().max(1).to_string();
        let (limit, lock_limit) = (millis(limit), millis(lock_limit));
        let limits: [&(dyn ToSql + Sync); 2] = [&limit, &lock_limit];
        let Some((writer, epoch)) = writer else {
            return self.query(client, sql::SETTINGS, &limits).await;
        };
        let [limit, lock_limit] = limits;
        let values = [limit, lock_limit, writer, epoch];
        self.query(client, sql::WRITER_SETTINGS, &values).await
    }
}

/// Returns whether nobody should use the connection any more on which this error came: it may be
/// lost, or lead to a server that cannot write.
pub(super) fn costs_the_connection(error: &StoreError) -> bool {
    matches!(error.kind(), ErrorKind::Passing | ErrorKind::TimedOut)
}

/// A connection that several callers share: a statement does not wait for the results of earlier
/// ones.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) client: Client,
    prepared: Prepared,
    limits: Arc<Limits>,
    /// The writer and its epoch, if the connection writes. Its transactions are rolled back after
    /// a later connection of the writer has raised the epoch.
    writer: Option<(String, i64)>,
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
        let limit = connector.limit.saturating_add(limits.of_an_opening());
        let opening = Self::open_without_limit(connector, limits, statements);
        within(limit, opening).await
    }

    async fn open_without_limit(
        connector: &Connector,
        limits: &Arc<Limits>,
        statements: &[&'static str],
    ) -> Result<Self, StoreError> {
        let (client, mut driver) = connector.connect().await?;
        let driver = tokio::spawn(std::future::poll_fn(move |cx| {
            loop {
                match driver(cx) {
                    Poll::Ready(Some(Ok(_))) => {}
                    // Callers who wait for a result get the error.
                    Poll::Ready(None | Some(Err(_))) => return Poll::Ready(()),
                    Poll::Pending => return Poll::Pending,
                }
            }
        }));
        let mut live = Self {
            client,
            prepared: Prepared(HashMap::new()),
            limits: Arc::clone(limits),
            writer: None,
            driver: driver.abort_handle(),
            opened: Instant::now(),
            is_late: AtomicBool::new(false),
        };
        let statements = [sql::SETTINGS].iter().chain(statements);
        let preparing = statements.map(|sql| -> Sent<'_, _> {
            let client = &live.client;
            Box::pin(async move { Ok((*sql, client.prepare(sql).await?)) })
        });
        let prepared = pipeline::together(preparing.collect()).await;
        live.prepared = Prepared(prepared.map_err(store_error)?.into_iter().collect());
        Ok(live)
    }

    /// Raises the epoch of a writer: from here on no other connection of the writer can commit.
    async fn raise_epoch(&mut self, writer: &str) -> Result<(), StoreError> {
        // A transaction that still runs holds the lock. If we may not end it, we wait.
        let _ = self.query(sql::END_WRITER, &[&writer]).await;
        let lock: Sent<'_> = Box::pin(async { self.query(sql::LOCK_WRITER, &[&writer]).await });
        let raise: Sent<'_> = Box::pin(async { self.query(sql::RAISE_EPOCH, &[&writer]).await });
        let rows = self.transaction(None, vec![lock, raise]).await;
        let rows = rows.map_err(store_error)?;
        let row = rows.last().and_then(|rows| rows.first());
        let row = row.ok_or_else(|| StoreError::lasting("PostgreSQL has not raised an epoch"))?;
        self.writer = Some((writer.to_owned(), row.get(0)));
        Ok(())
    }

    /// Sends a statement. It is sent when the future is polled first.
    pub(super) async fn query(
        &self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        self.prepared.query(&self.client, sql, values).await
    }

    /// Begins a transaction.
    pub(super) async fn begin(&mut self) -> Result<(Transaction<'_>, &Prepared), Error> {
        let builder = self.client.build_transaction();
        let builder = builder.isolation_level(IsolationLevel::ReadCommitted);
        let transaction = builder.start().await?;
        let limit = self.limits.current();
        self.prepared
            .set_up(&transaction, limit, limit, None)
            .await?;
        Ok((transaction, &self.prepared))
    }

    /// Carries out statements in one transaction and one round trip. A lock is waited for at most
    /// `lock_limit`.
    pub(super) async fn transaction<'a>(
        &'a self,
        lock_limit: Option<Duration>,
        statements: Vec<Sent<'a>>,
    ) -> Result<Vec<Vec<Row>>, Error> {
        let limit = self.limits.current();
        let lock_limit = lock_limit.unwrap_or(limit);
        let writer = self.writer.as_ref();
        let set_up = self
            .prepared
            .set_up(&self.client, limit, lock_limit, writer);
        let mut all: Vec<Sent<'a>> = vec![Box::pin(set_up)];
        all.extend(statements);
        let answers = pipeline::transaction(&self.client, all).await?;
        Ok(answers.into_iter().skip(1).collect())
    }

    /// Returns whether another connection should be opened.
    pub(super) fn is_over(&self) -> bool {
        self.client.is_closed() || self.driver.is_finished() || self.opened.elapsed() > LIFE
    }

    /// Closes the connection, whatever is under way.
    pub(super) fn close(&self) {
        self.driver.abort();
    }
}

/// A connection for one purpose, opened when it is needed.
#[derive(Debug)]
pub(super) struct Link {
    connector: Connector,
    limits: Arc<Limits>,
    statements: &'static [&'static str],
    /// The writer whose epoch each new connection raises, if this connection writes.
    writer: Option<String>,
    is_used: AtomicBool,
    live: Mutex<Option<Arc<Live>>>,
}

impl Link {
    pub(super) fn new(
        connector: &Connector,
        limits: &Arc<Limits>,
        statements: &'static [&'static str],
    ) -> Self {
        Self {
            connector: connector.clone(),
            limits: Arc::new(limits.of_another_connection()),
            statements,
            writer: None,
            is_used: AtomicBool::new(false),
            live: Mutex::new(None),
        }
    }

    /// Returns the connection of a new writer.
    pub(super) fn of_a_writer(
        connector: &Connector,
        limits: &Arc<Limits>,
        statements: &'static [&'static str],
    ) -> Self {
        Self {
            writer: Some(format!("{:016x}", rand::random::<u64>())),
            ..Self::new(connector, limits, statements)
        }
    }

    /// Opens a new connection if an earlier one is over: it raises the epoch of the writer.
    pub(super) async fn settle(&self) -> Result<(), StoreError> {
        if self.is_used.load(Ordering::Relaxed) {
            self.live().await?;
        }
        Ok(())
    }

    /// Returns the connection; opens a new one if there is none.
    pub(super) async fn live(&self) -> Result<Arc<Live>, StoreError> {
        let mut live = self.live.lock().await;
        if let Some(live) = &*live
            && !live.is_over()
        {
            return Ok(Arc::clone(live));
        }
        *live = None;
        self.is_used.store(true, Ordering::Relaxed);
        let mut new = Live::open(&self.connector, &self.limits, self.statements).await?;
        if let Some(writer) = &self.writer {
            let limit = self.limits.of_an_opening();
            if let Err(error) = within(limit, new.raise_epoch(writer)).await {
                new.close();
                return Err(error);
            }
        }
        let new = Arc::new(new);
        *live = Some(Arc::clone(&new));
        Ok(new)
    }

    /// Waits for the result of `work` on a connection, as long as PostgreSQL may take. After an
    /// error that may be over soon the connection is given up: what was sent on it may still take
    /// effect, until a new connection raises the epoch of the writer.
    pub(super) async fn limited<T>(
        &self,
        live: &Arc<Live>,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let mut result = self.limits.limited(work).await;
        if let Err(error) = &mut result
            && costs_the_connection(error)
        {
            if error.kind() == ErrorKind::TimedOut {
                live.is_late.store(true, Ordering::Relaxed);
            } else if live.is_late.load(Ordering::Relaxed) {
                // Another caller has closed it for this reason.
                *error = limits::timed_out();
            }
            live.close();
            let mut current = self.live.lock().await;
            if current.as_ref().is_some_and(|now| Arc::ptr_eq(now, live)) {
                *current = None;
            }
        }
        result
    }

    /// Carries out one statement in a transaction of its own.
    pub(super) async fn query(
        &self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        let live = self.live().await?;
        self.limited(&live, async {
            let statement: Sent<'_> = Box::pin(live.query(sql, values));
            let answers = live.transaction(None, vec![statement]).await;
            let mut answers = answers.map_err(store_error)?;
            Ok(answers.pop().unwrap_or_default())
        })
        .await
    }
}
