//! A store that several machines share: PostgreSQL. The time is that of the server.

mod answer;
mod columns;
mod link;
mod pipeline;
mod plan;
mod read;
mod schema;
mod sql;
mod statement;
mod sweep;
mod trouble;
mod wake;
mod write;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio_postgres::tls::{MakeTlsConnect, NoTls, TlsConnect};
use tokio_postgres::{Config, Socket, Transaction};

use super::{Answer, Filter, Operation, Outcome, Store, StoreError, Sweep, Swept};
use crate::task::{Record, Run, RunId, Signal, State};
use crate::workflow::{Submission, Workflow};
use link::{Connector, Link, Prepared};
use trouble::trouble;
use wake::Bell;

/// Tasks in a PostgreSQL database.
///
/// Its tables are named `retry_...` and stand in the first schema of the `search_path`, so the database may be one that the application has
/// tables of its own in: then a task can be submitted in the application's own transaction, see [`submit_in`](Self::submit_in).
///
/// It has up to four connections: for what is written, for what is read, for supervisors, and one that hears of what other processes
/// have stored. One that is lost is made again.
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
    /// Connects without TLS, as with `postgres://user:password@host/database`, and makes the tables if they are not there. Any number
    /// of processes may do so at the same time.
    ///
    /// # Errors
    ///
    /// A URL that is none; a server that cannot be reached or does not let this user in; tables of a newer release.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub async fn connect(url: &str) -> Result<Self, StoreError> {
        let config: Config = url.parse().map_err(trouble)?;
        Self::connect_with(config, NoTls).await
    }

    /// The same, with TLS: `tls` makes it, for example that of `postgres-native-tls` or `tokio-postgres-rustls`.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect), and what the maker of TLS says.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub async fn connect_with<T>(config: Config, tls: T) -> Result<Self, StoreError>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let connector = Connector::new(config, tls);
        let (mut client, _) = link::open(&connector, &[]).await?;
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

    /// Stores a task in a transaction of the application, in the same database and with the same `search_path`: the task is there if
    /// and only if the transaction is committed. Schedulers find it when they look the next time.
    ///
    /// # Errors
    ///
    /// Arguments that cannot be written as JSON; what PostgreSQL says, after which the transaction can only be rolled back.
    pub async fn submit_in<W: Workflow>(
        transaction: &Transaction<'_>,
        submission: Submission<W>,
    ) -> Result<RunId, StoreError> {
        let new = submission.into_new()?;
        write::submit(transaction, &new).await
    }
}

impl Store for Postgres {
    fn write(&self, operations: Arc<[Operation]>) -> Answer<'_, Vec<Outcome>> {
        Box::pin(async move {
            let live = self.writer.live().await?;
            let outcomes = write::all(&live, &operations).await?;
            let mut news = outcomes.iter().zip(&*operations);
            if news.any(|pair| is_news(pair) && !is_taken(pair.0, &outcomes)) {
                self.bell.ring();
            }
            Ok(outcomes)
        })
    }

    fn sweep(&self, sweep: Sweep) -> Answer<'_, Vec<Swept>> {
        Box::pin(async move {
            let mut sweeper = self.sweeper.lock().await;
            if sweeper
                .as_ref()
                .is_none_or(|(client, _)| client.is_closed())
            {
                *sweeper = Some(link::open(&self.connector, sweep::SWEEPS).await?);
            }
            let Some((client, prepared)) = &mut *sweeper else {
                return Ok(Vec::new());
            };
            let transaction = client.transaction().await.map_err(trouble)?;
            let swept = sweep::all(transaction, prepared, &sweep).await?;
            if !swept.is_empty() {
                self.bell.ring();
            }
            Ok(swept)
        })
    }

    fn run(&self, id: RunId) -> Answer<'_, Option<Run>> {
        Box::pin(async move {
            let rows = self.reader.query(sql::RUN, &[&id.0]).await?;
            rows.first().map(read::run_of).transpose()
        })
    }

    fn history(&self, id: RunId) -> Answer<'_, Vec<Record>> {
        Box::pin(async move {
            let rows = self.reader.query(sql::HISTORY, &[&id.0]).await?;
            rows.iter().map(read::record_of).collect()
        })
    }

    fn signals(&self, id: RunId) -> Answer<'_, Vec<Signal>> {
        Box::pin(async move {
            let rows = self.reader.query(sql::SIGNALS, &[&id.0]).await?;
            Ok(rows.iter().map(read::signal_of).collect())
        })
    }

    fn list(&self, filter: Filter) -> Answer<'_, Vec<Run>> {
        Box::pin(async move {
            let live = self.reader.live().await?;
            let before = filter.before.map_or(i64::MAX, |before| before.0);
            let limit = i64::from(filter.bound());
            let rows = live
                .client
                .query(
                    &read::list(&filter),
                    &[&before, &filter.workflow, &filter.queue, &limit],
                )
                .await
                .map_err(trouble)?;
            rows.iter().map(read::run_of).collect()
        })
    }

    fn counts(&self) -> Answer<'_, Vec<(State, u64)>> {
        Box::pin(async move {
            let rows = self.reader.query(sql::COUNTS, &[]).await?;
            let count = |row: &tokio_postgres::Row| {
                Ok((
                    read::state(row.get(0))?,
                    row.get::<_, i64>(1).cast_unsigned(),
                ))
            };
            rows.iter().map(count).collect()
        })
    }

    fn woken(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.bell.heard())
    }

    fn salt(&self) -> u64 {
        self.salt
    }
}

/// Whether other processes may claim something after it.
fn is_news((outcome, operation): (&Outcome, &Operation)) -> bool {
    match (operation, outcome) {
        (_, Outcome::Lost) | (Operation::Submit(_), Outcome::Submitted { is_new: false, .. }) => {
            false
        }
        (Operation::Change(_, change), _) => change.state == State::Pending,
        _ => operation.may_free(),
    }
}

/// Whether a claim of the same transaction has taken what was submitted: to tell others costs a commit.
fn is_taken(outcome: &Outcome, outcomes: &[Outcome]) -> bool {
    let Outcome::Submitted { id, .. } = outcome else {
        return false;
    };
    let mut others = outcomes.iter();
    others.any(|other| match other {
        Outcome::Claimed(claimed) => claimed.iter().any(|claimed| claimed.run.id == *id),
        _ => false,
    })
}

/// For sums with the time of the server: nothing is so long that they overflow.
fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros())
        .unwrap_or(i64::MAX)
        .min(i64::MAX / 2)
}
