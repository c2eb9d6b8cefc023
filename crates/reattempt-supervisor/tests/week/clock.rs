//! Stores whose clock the test sets. SQLite has a clock in a file. PostgreSQL finds a function `now` in
//! a schema before `pg_catalog`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reattempt_supervisor::{Client, Postgres, Sqlite, Time};

use crate::servers;

/// Reads a time in RFC 3339.
pub(crate) fn time(text: &str) -> Time {
    let time: jiff::Timestamp = text.parse().unwrap();
    Time::from_micros(time.as_microsecond())
}

/// A store, its clock and its resources.
pub(crate) struct Place {
    kind: String,
    name: String,
    admin: Admin,
    _kept: servers::Kept,
}

/// A connection without this library.
enum Admin {
    Sqlite(rusqlite::Connection),
    Postgres(tokio_postgres::Client),
}

const CLOCK: &str = concat!(
    include_str!("../kit/clock.sql"),
    "SET search_path = sim, pg_catalog"
);

impl Place {
    pub(crate) async fn new(kind: &str, start: Time) -> Option<Self> {
        let (mut name, kept) = servers::start(kind)?;
        let admin = if kind == "sqlite" {
            let connection = rusqlite::Connection::open(&name).unwrap();
            connection.busy_timeout(Duration::from_secs(60)).unwrap();
            Admin::Sqlite(connection)
        } else {
            let connecting = tokio_postgres::connect(&name, tokio_postgres::NoTls);
            let (client, connection) = connecting.await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(CLOCK).await.unwrap();
            name = format!("{name}?options=-csearch_path%3Dsim,pg_catalog");
            Admin::Postgres(client)
        };
        let mut place = Self {
            kind: kind.to_owned(),
            name,
            admin,
            _kept: kept,
        };
        place.set(start).await;
        Some(place)
    }

    pub(crate) fn arguments(&self) -> [&str; 2] {
        [&self.kind, &self.name]
    }

    pub(crate) async fn client(&self) -> Client {
        open(&self.kind, &self.name).await
    }

    /// Sets the clock.
    pub(crate) async fn set(&mut self, now: Time) {
        match &self.admin {
            Admin::Sqlite(_) => {
                let (file, new) = (clock_file(&self.name), format!("{}.new", self.name));
                fs::write(&new, now.as_micros().to_string()).unwrap();
                fs::rename(new, file).unwrap();
            }
            Admin::Postgres(client) => {
                let sql = format!("UPDATE sim.clock SET micros = {}", now.as_micros());
                client.batch_execute(&sql).await.unwrap();
            }
        }
    }

    /// Keeps the key of each task that is stored from now on.
    pub(crate) async fn keep_ledger(&self) {
        self.execute(match self.admin {
            Admin::Sqlite(_) => {
                "CREATE TABLE ledger (key TEXT NOT NULL);
                 CREATE TRIGGER keep AFTER INSERT ON retry_run BEGIN INSERT INTO ledger VALUES (new.idem_key); END"
            }
            Admin::Postgres(_) => {
                "CREATE TABLE ledger (key TEXT NOT NULL);
                 CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS
                     'BEGIN INSERT INTO ledger VALUES (new.idem_key); RETURN new; END';
                 CREATE TRIGGER keep AFTER INSERT ON retry_run FOR EACH ROW EXECUTE FUNCTION keep()"
            }
        })
        .await;
    }

    /// Ends all tasks, so that they can be deleted.
    pub(crate) async fn end_tasks(&self) {
        self.execute("UPDATE retry_run SET state = 3 WHERE state = 0")
            .await;
    }

    async fn execute(&self, sql: &str) {
        match &self.admin {
            Admin::Sqlite(connection) => connection.execute_batch(sql).unwrap(),
            Admin::Postgres(client) => client.batch_execute(sql).await.unwrap(),
        }
    }

    /// Returns how many tasks each key has had.
    pub(crate) async fn ledger(&self) -> BTreeMap<String, i64> {
        let sql = "SELECT key, count(*) FROM ledger GROUP BY key";
        match &self.admin {
            Admin::Sqlite(connection) => {
                let mut rows = connection.prepare(sql).unwrap();
                let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
                rows.unwrap().map(Result::unwrap).collect()
            }
            Admin::Postgres(client) => {
                let rows = client.query(sql, &[]).await.unwrap();
                rows.iter().map(|row| (row.get(0), row.get(1))).collect()
            }
        }
    }

    /// Returns how many tasks the store has.
    pub(crate) async fn tasks_left(&self) -> i64 {
        let sql = "SELECT count(*) FROM retry_run";
        match &self.admin {
            Admin::Sqlite(connection) => connection.query_row(sql, [], |row| row.get(0)).unwrap(),
            Admin::Postgres(client) => client.query_one(sql, &[]).await.unwrap().get(0),
        }
    }
}

fn clock_file(name: &str) -> PathBuf {
    Path::new(name).with_extension("clock")
}

/// Opens a store with its clock.
pub(crate) async fn open(kind: &str, name: &str) -> Client {
    if kind == "postgres" {
        return Client::new(Postgres::connect(name).await.unwrap());
    }
    let clock = Arc::new(clock_file(name));
    let now = move || {
        let micros = fs::read_to_string(&*clock).unwrap();
        Time::from_micros(micros.parse().unwrap())
    };
    Client::new(Sqlite::open_with_clock(name, now).await.unwrap())
}
