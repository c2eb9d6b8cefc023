//! A connection that is replaced when it is lost.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Config, Error, GenericClient, Row, Socket, Statement};

use super::pipeline::{self, Sent};
use super::sqlstate::store_error;
use crate::store::StoreError;

/// How long connecting may take, unless the configuration has a limit.
const CONNECT: Duration = Duration::from_secs(5);

/// How long sent data may stay unacknowledged.
const UNACKNOWLEDGED: Duration = Duration::from_secs(20);

/// Settings of each connection:
///
/// * A plan that was made for small tables must fit when they have grown, so every lookup uses an
///   index.
/// * A process that is suspended in a transaction does not block the others.
/// * Committed data is on disk.
const SETTINGS: &str = "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; \
     SET plan_cache_mode = force_generic_plan; SET jit = off; SET lock_timeout = '5s'; \
     SET idle_in_transaction_session_timeout = '10s'; \
     SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

/// The future of a new connection.
type Connecting = Pin<Box<dyn Future<Output = Result<(Client, Driver), Error>> + Send>>;

/// Drives a connection, and returns the messages that the server sends by itself.
pub(super) type Driver =
    Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<Result<AsyncMessage, Error>>> + Send>;

/// Opens connections.
#[derive(Clone)]
pub(super) struct Connector(Arc<dyn Fn() -> Connecting + Send + Sync>);

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
        if config.get_application_name().is_none() {
            config.application_name("reattempt-supervisor");
        }
        Self(Arc::new(move || {
            let (config, tls) = (config.clone(), tls.clone());
            Box::pin(async move {
                let (client, mut connection) = config.connect(tls).await?;
                let driver: Driver = Box::new(move |cx| connection.poll_message(cx));
                Ok((client, driver))
            })
        }))
    }

    pub(super) async fn connect(&self) -> Result<(Client, Driver), StoreError> {
        (self.0)().await.map_err(store_error)
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
}

/// A connection that several callers share: a statement does not wait for the results of earlier
/// ones.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) client: Client,
    prepared: Prepared,
}

impl Live {
    /// Sends a statement. It is sent when the future is polled first.
    pub(super) async fn query(
        &self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        self.prepared.query(&self.client, sql, values).await
    }
}

/// Opens a connection and prepares these statements.
pub(super) async fn open(
    connector: &Connector,
    statements: &[&'static str],
) -> Result<(Client, Prepared), StoreError> {
    let (client, mut driver) = connector.connect().await?;
    tokio::spawn(std::future::poll_fn(move |cx| {
        loop {
            match driver(cx) {
                Poll::Ready(Some(Ok(_))) => {}
                // Callers who wait for a result get the error.
                Poll::Ready(None | Some(Err(_))) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }));
    client.batch_execute(SETTINGS).await.map_err(store_error)?;
    let preparing = statements.iter().map(|sql| -> Sent<'_, _> {
        let client = &client;
        Box::pin(async move { Ok((*sql, client.prepare(sql).await?)) })
    });
    let prepared = pipeline::together(preparing.collect())
        .await
        .map_err(store_error)?;
    let prepared = Prepared(prepared.into_iter().collect());
    Ok((client, prepared))
}

/// A connection for one purpose, opened when it is needed.
#[derive(Debug)]
pub(super) struct Link {
    connector: Connector,
    statements: &'static [&'static str],
    live: Mutex<Option<Arc<Live>>>,
}

impl Link {
    pub(super) fn new(connector: &Connector, statements: &'static [&'static str]) -> Self {
        Self {
            connector: connector.clone(),
            statements,
            live: Mutex::new(None),
        }
    }

    /// Returns the connection; opens a new one if there is none.
    pub(super) async fn live(&self) -> Result<Arc<Live>, StoreError> {
        let mut live = self.live.lock().await;
        if let Some(live) = &*live
            && !live.client.is_closed()
        {
            return Ok(Arc::clone(live));
        }
        let (client, prepared) = open(&self.connector, self.statements).await?;
        let new = Arc::new(Live { client, prepared });
        *live = Some(Arc::clone(&new));
        Ok(new)
    }

    /// Sends one statement by itself.
    pub(super) async fn query(
        &self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        self.live()
            .await?
            .query(sql, values)
            .await
            .map_err(store_error)
    }
}
