//! A connection that is made again when it has gone.

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
use super::trouble::trouble;
use crate::store::StoreError;

/// How long a connection may take to be made, where the configuration does not say.
const CONNECT: Duration = Duration::from_secs(5);

/// How long what was sent may stay without an acknowledgement of the network.
const UNHEARD: Duration = Duration::from_secs(20);

/// A plan that was made while the tables were small must hold when they have grown: what is looked up is looked up by an index.
/// A process that is stopped in the middle of a transaction does not hold up the others. What is committed is on disk.
const SETTINGS: &str = "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; \
     SET plan_cache_mode = force_generic_plan; SET jit = off; SET lock_timeout = '5s'; \
     SET idle_in_transaction_session_timeout = '10s'; \
     SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

type Connecting = Pin<Box<dyn Future<Output = Result<(Client, Driver), Error>> + Send>>;

/// What moves the bytes of a connection, and says what the server says by itself.
pub(super) type Driver =
    Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<Result<AsyncMessage, Error>>> + Send>;

/// Makes connections.
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
            config.tcp_user_timeout(UNHEARD);
        }
        if config.get_application_name().is_none() {
            config.application_name("reattempt-supervisor");
        }
        Self(Arc::new(move || {
            let (config, tls) = (config.clone(), tls.clone());
            Box::pin(async move {
                let (client, mut connection) = config.connect(tls).await?;
                let driver: Driver = Box::new(move |context| connection.poll_message(context));
                Ok((client, driver))
            })
        }))
    }

    pub(super) async fn connect(&self) -> Result<(Client, Driver), StoreError> {
        (self.0)().await.map_err(trouble)
    }
}

/// Statements that the server knows, by their text.
#[derive(Debug)]
pub(super) struct Prepared(HashMap<&'static str, Statement>);

impl Prepared {
    /// The statement is sent when the answer is polled first.
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

/// A connection that others share: what they send does not wait for the answers to what was sent before.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) client: Client,
    prepared: Prepared,
}

impl Live {
    /// The statement is sent when the answer is polled first.
    pub(super) async fn query(
        &self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Error> {
        self.prepared.query(&self.client, sql, values).await
    }
}

/// A new connection with these statements prepared.
pub(super) async fn open(
    connector: &Connector,
    statements: &[&'static str],
) -> Result<(Client, Prepared), StoreError> {
    let (client, mut driver) = connector.connect().await?;
    tokio::spawn(std::future::poll_fn(move |context| {
        loop {
            match driver(context) {
                Poll::Ready(Some(Ok(_))) => {}
                // Whoever waits for an answer is told.
                Poll::Ready(None | Some(Err(_))) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }));
    client.batch_execute(SETTINGS).await.map_err(trouble)?;
    let preparing = statements.iter().map(|sql| -> Sent<'_, _> {
        let client = &client;
        Box::pin(async move { Ok((*sql, client.prepare(sql).await?)) })
    });
    let prepared = pipeline::together(preparing.collect())
        .await
        .map_err(trouble)?;
    let prepared = Prepared(prepared.into_iter().collect());
    Ok((client, prepared))
}

/// A connection for one purpose.
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

    /// The connection, made anew where there is none.
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

    /// One statement by itself.
    pub(super) async fn query(
        &self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, StoreError> {
        self.live().await?.query(sql, values).await.map_err(trouble)
    }
}
