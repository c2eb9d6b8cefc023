//! A store that several machines share: PostgreSQL. It uses the time of the server.

mod bell;
mod columns;
mod connection;
mod pipeline;
mod plan;
mod results;
mod rows;
mod schema;
mod sql;
mod sqlstate;
mod statement;
mod sweep;
mod write;

use std::pin::Pin;
use std::sync::Arc;

use tokio::sync::Mutex;
use tokio_postgres::tls::{MakeTlsConnect, NoTls, TlsConnect};
use tokio_postgres::{Config, Socket, Transaction};

use super::{Filter, Reclaimed, Store, StoreError, StoreFuture, Sweep, Write, WriteResult};
use crate::store::submission::Submission;
use crate::task::{Record, Signal, State, Task, TaskId};
use bell::Bell;
use connection::{Connector, Link, Prepared};
use sqlstate::store_error;

/// Tasks in a PostgreSQL database.
///
/// The names of its tables start with `retry_`. They are in the first schema of the `search_path`,
/// so your application can have tables of its own in the same database. Then it can submit a task
/// in its own transaction, see [`submit_in`](Self::submit_in).
///
/// It has up to four connections: for writes, for reads, for supervisors, and for notifications of
/// other processes. It replaces a lost connection.
#[derive(Debug)]
pub struct Postgres {
    writer: Link,
    reader: Arc<Link>,
    connector: Connector,
    sweeper: Mutex<Option<(tokio_postgres::Client, Prepared)>>,
    bell: Bell,
    salt: u64,
}

impl Postgres {
    /// Connects without TLS, to a URL such as `postgres://user:password@host/database`, and creates
    /// the tables if they are missing. Any number of processes may do so at the same time.
    ///
    /// # Errors
    ///
    /// Fails if the URL is invalid, if the server cannot be reached or refuses the user, or if the
    /// tables come from a newer release.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        let config: Config = url.parse().map_err(store_error)?;
        Self::connect_with(config, NoTls).await
    }

    /// Connects with TLS: `tls` is a connector, for example that of `postgres-native-tls` or
    /// `tokio-postgres-rustls`.
    ///
    /// # Errors
    ///
    /// Fails as [`connect`](Self::connect) does, or if TLS fails.
    ///
    /// # Panics
    ///
    /// Panics outside a tokio runtime.
    pub async fn connect_with<T>(config: Config, tls: T) -> Result<Self, StoreError>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let connector = Connector::new(config, tls);
        let (mut client, _) = connection::open(&connector, &[]).await?;
        let salt = schema::migrate(&mut client).await?;
        let reader = Arc::new(Link::new(&connector, sql::READS));
        Ok(Self {
            writer: Link::new(&connector, sql::WRITES),
            bell: Bell::new(&connector, Arc::clone(&reader)),
            sweeper: Mutex::new(None),
            reader,
            connector,
            salt,
        })
    }

    /// Stores a task in a transaction of your application, in the same database and with the same
    /// `search_path`. The task exists if and only if the transaction is committed. Schedulers find
    /// it at their next look.
    ///
    /// # Errors
    ///
    /// Fails if the arguments cannot be written as JSON, or if PostgreSQL fails; then you can only
    /// roll back the transaction.
    pub async fn submit_in<W>(
        transaction: &Transaction<'_>,
        submission: Submission<W>,
    ) -> Result<TaskId, StoreError> {
        let new = submission.into_new_task()?;
        write::submit(transaction, &new).await
    }
}

impl Store for Postgres {
    fn write(&self, writes: Arc<[Write]>) -> StoreFuture<'_, Vec<WriteResult>> {
        Box::pin(async move {
            let live = self.writer.live().await?;
            let results = write::write_all(&live, &writes).await?;
            let mut pairs = results.iter().zip(&*writes);
            if pairs.any(|pair| adds_work(pair) && !is_taken(pair.0, &results)) {
                self.bell.ring();
            }
            Ok(results)
        })
    }

    fn sweep(&self, sweep: Sweep) -> StoreFuture<'_, Vec<Reclaimed>> {
        Box::pin(async move {
            let mut sweeper = self.sweeper.lock().await;
            if sweeper
                .as_ref()
                .is_none_or(|(client, _)| client.is_closed())
            {
                *sweeper = Some(connection::open(&self.connector, sweep::SWEEPS).await?);
            }
            let Some((client, prepared)) = &mut *sweeper else {
                return Ok(Vec::new());
            };
            let transaction = client.transaction().await.map_err(store_error)?;
            let reclaimed = sweep::reclaim_all(transaction, prepared, &sweep).await?;
            if !reclaimed.is_empty() {
                self.bell.ring();
            }
            Ok(reclaimed)
        })
    }

    fn task(&self, id: TaskId) -> StoreFuture<'_, Option<Task>> {
        Box::pin(async move {
            let rows = self.reader.query(sql::RUN, &[&id.0]).await?;
            rows.first().map(rows::task_of).transpose()
        })
    }

    fn history(&self, id: TaskId) -> StoreFuture<'_, Vec<Record>> {
        Box::pin(async move {
            let rows = self.reader.query(sql::HISTORY, &[&id.0]).await?;
            rows.iter().map(rows::record_of).collect()
        })
    }

    fn signals(&self, id: TaskId) -> StoreFuture<'_, Vec<Signal>> {
        Box::pin(async move {
            let rows = self.reader.query(sql::SIGNALS, &[&id.0]).await?;
            Ok(rows.iter().map(rows::signal_of).collect())
        })
    }

    fn list(&self, filter: Filter) -> StoreFuture<'_, Vec<Task>> {
        Box::pin(async move {
            let live = self.reader.live().await?;
            let before = filter.before.map_or(i64::MAX, |before| before.0);
            let limit = i64::from(filter.bound());
            let rows = live
                .client
                .query(
                    &rows::list_sql(&filter),
                    &[&before, &filter.workflow, &filter.queue, &limit],
                )
                .await
                .map_err(store_error)?;
            rows.iter().map(rows::task_of).collect()
        })
    }

    fn counts(&self) -> StoreFuture<'_, Vec<(State, u64)>> {
        Box::pin(async move {
            let rows = self.reader.query(sql::COUNTS, &[]).await?;
            let count = |row: &tokio_postgres::Row| {
                Ok((
                    rows::state(row.get(0))?,
                    row.get::<_, i64>(1).cast_unsigned(),
                ))
            };
            rows.iter().map(count).collect()
        })
    }

    fn wait_for_work(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.bell.wait())
    }

    fn salt(&self) -> u64 {
        self.salt
    }
}

/// Returns whether other processes may find something to claim after a write.
fn adds_work((result, write): (&WriteResult, &Write)) -> bool {
    match (write, result) {
        (_, WriteResult::Lost)
        | (Write::Submit(_), WriteResult::Submitted { is_new: false, .. }) => false,
        (Write::Change(_, change), _) => change.state == State::Pending,
        _ => write.may_add_work(),
    }
}

/// Returns whether a claim of the same transaction has taken a submitted task: a notification costs
/// a commit.
fn is_taken(result: &WriteResult, results: &[WriteResult]) -> bool {
    let WriteResult::Submitted { id, .. } = result else {
        return false;
    };
    let mut others = results.iter();
    others.any(|other| match other {
        WriteResult::Claimed(claimed) => claimed.iter().any(|claimed| claimed.task.id == *id),
        _ => false,
    })
}
