//! What real errors of PostgreSQL and of the pool mean.

use std::fs;
use std::io::ErrorKind;
use std::process::Command;
use std::time::Duration;

use reattempt::Verdict::{self, Permanent, Refused, Throttled, Transient};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection as _, Error, Executor as _, PgConnection};

use super::{Base, connecting, judged};
use crate::servers::Server;

const TABLES: &str = "
    CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL);
    INSERT INTO account VALUES (0, 0), (1, 0);
";

impl Base {
    async fn connect(&self) -> PgConnection {
        PgConnection::connect_with(&self.options).await.unwrap()
    }
}

/// What the database says to `statement`, and the verdict.
async fn of(connection: &mut PgConnection, statement: &'static str) -> (Option<String>, Verdict) {
    judged(connection.execute(statement).await.err().as_ref())
}

async fn of_connecting(options: &PgConnectOptions) -> (Option<String>, Verdict) {
    judged(PgConnection::connect_with(options).await.err().as_ref())
}

fn said(state: &str, verdict: Verdict) -> (Option<String>, Verdict) {
    (Some(state.to_owned()), verdict)
}

#[tokio::test]
async fn mistakes_are_final() {
    let Some(base) = Base::start("mistakes", TABLES).await else {
        return;
    };
    let mut one = base.connect().await;
    for (statement, state) in [
        ("INSERT INTO account VALUES (0, 0)", "23505"),
        ("SELECT FROM nowhere", "42P01"),
        ("SELECT 1 / 0", "22012"),
        ("SELEKT", "42601"),
    ] {
        assert_eq!(of(&mut one, statement).await, said(state, Permanent));
    }
    // Says PostgreSQL to a driver at fault, and `PgBouncer` to everybody: the latter may pass.
    let unbound = sqlx::query("SELECT $1::int, $2::int")
        .bind(1)
        .execute(&base.pool);
    assert_eq!(
        judged(unbound.await.err().as_ref()),
        said("08P01", Transient)
    );
    one.execute("SET statement_timeout = '5ms'").await.unwrap();
    let late = of(&mut one, "SELECT pg_sleep(60)").await;
    assert_eq!(late, said("57014", Permanent));
}

#[tokio::test]
async fn a_failed_transaction_goes_on_failing() {
    let Some(base) = Base::start("failed", TABLES).await else {
        return;
    };
    let mut tx = base.pool.begin().await.unwrap();
    tx.execute("UPDATE account SET balance = 7").await.unwrap();
    assert_eq!(of(&mut tx, "SELECT 1 / 0").await, said("22012", Permanent));
    assert_eq!(of(&mut tx, "SELECT 1").await, said("25P02", Permanent));
    // It answers `ROLLBACK`, which sqlx takes for a success.
    tx.commit().await.unwrap();
    assert_eq!(
        base.number("SELECT sum(balance)::bigint FROM account")
            .await,
        0
    );
}

#[tokio::test]
async fn conflicts_are_refused() {
    let Some(base) = Base::start("refused", TABLES).await else {
        return;
    };
    let (mut one, mut two) = (base.connect().await, base.connect().await);

    // 40001: the other was faster.
    let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM account";
    one.execute(begin).await.unwrap();
    two.execute("UPDATE account SET balance = 1").await.unwrap();
    let update = "UPDATE account SET balance = 2";
    assert_eq!(of(&mut one, update).await, said("40001", Refused));
    one.execute("ROLLBACK").await.unwrap();

    // 40001 again: a key that came after this transaction had looked.
    one.execute("BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT FROM account")
        .await
        .unwrap();
    two.execute("INSERT INTO account VALUES (7, 0)")
        .await
        .unwrap();
    let insert = "INSERT INTO account VALUES (7, 0) ON CONFLICT DO NOTHING";
    assert_eq!(of(&mut one, insert).await, said("40001", Refused));
    one.execute("ROLLBACK").await.unwrap();

    // 40P01: each waits for the other.
    for (connection, id) in [(&mut one, 0), (&mut two, 1)] {
        let first = format!("BEGIN; UPDATE account SET balance = 3 WHERE id = {id}");
        connection.execute(AssertSqlSafe(first)).await.unwrap();
    }
    let (first, second) = tokio::join!(
        one.execute("UPDATE account SET balance = 3 WHERE id = 1; COMMIT"),
        two.execute("UPDATE account SET balance = 3 WHERE id = 0; COMMIT"),
    );
    assert_ne!(first.is_ok(), second.is_ok());
    assert_eq!(
        judged(first.err().or(second.err()).as_ref()),
        said("40P01", Refused)
    );
    for connection in [&mut one, &mut two] {
        connection.execute("ROLLBACK").await.unwrap();
    }

    // 55P03: a lock that is not to be had, at once and after a time.
    one.execute("BEGIN; SELECT FROM account FOR UPDATE")
        .await
        .unwrap();
    let nowait = "SELECT FROM account FOR UPDATE NOWAIT";
    assert_eq!(of(&mut two, nowait).await, said("55P03", Refused));
    two.execute("SET lock_timeout = '5ms'").await.unwrap();
    assert_eq!(of(&mut two, update).await, said("55P03", Refused));
}

#[tokio::test]
async fn connections_that_end() {
    let Some(base) = Base::start("ended", TABLES).await else {
        return;
    };
    // 57P01: killed, perhaps after what it has been asked for.
    let mut one = base.connect().await;
    let backend = sqlx::query_scalar("SELECT pg_backend_pid()");
    base.kill(backend.fetch_one(&mut one).await.unwrap()).await;
    assert_eq!(of(&mut one, "SELECT 1").await, said("57P01", Transient));
    // There is nobody at the other end.
    assert_eq!(of(&mut one, "SELECT 1").await, (None, Transient));

    // 57P05: it was over before it was asked.
    let mut one = base.connect().await;
    one.execute("SET idle_session_timeout = '1ms'")
        .await
        .unwrap();
    base.until(
        "SELECT count(*) = 0 FROM pg_stat_activity
        WHERE application_name = 'ended' AND query LIKE 'SET%'",
    )
    .await;
    assert_eq!(of(&mut one, "SELECT 1").await, said("57P05", Refused));
}

#[tokio::test]
async fn connections_that_do_not_come_about() {
    let Some(base) = Base::start("unconnected", TABLES).await else {
        return;
    };
    // 53300: too many of this user.
    base.pool
        .execute("CREATE ROLE few LOGIN CONNECTION LIMIT 1")
        .await
        .unwrap();
    let few = connecting(&base.server).username("few");
    let _one = PgConnection::connect_with(&few).await.unwrap();
    assert_eq!(of_connecting(&few).await, said("53300", Throttled(None)));
    // A pool tries again by itself as long as it may.
    let pool = PgPoolOptions::new().acquire_timeout(Duration::from_millis(50));
    let pool = pool.connect_lazy_with(few);
    let error = pool.begin().await.err().unwrap();
    assert!(matches!(error, Error::PoolTimedOut), "{error}");
    assert_eq!(judged(Some(&error)), (None, Refused));

    let wrong = base.options.clone().database("nowhere");
    assert_eq!(of_connecting(&wrong).await, said("3D000", Permanent));
}

#[tokio::test]
async fn a_server_that_is_going_and_gone() {
    let Some(server) = Server::postgres() else {
        return;
    };
    let options = connecting(&server);
    let last = PgConnection::connect_with(&options).await.unwrap();
    // When it is stopped, it waits for its last client, and takes no other.
    let pid = fs::read_to_string(server.folder().join("data/postmaster.pid")).unwrap();
    let report = ["-TERM", pid.lines().next().unwrap()];
    assert!(
        Command::new("kill")
            .args(report)
            .status()
            .unwrap()
            .success()
    );
    let going = until_it_fails(&options, |error| !matches!(error, Error::Io(_))).await;
    assert_eq!(judged(Some(&going)), said("57P03", Refused));
    last.close().await.unwrap();
    let is_refused =
        |error: &Error| matches!(error, Error::Io(e) if e.kind() == ErrorKind::ConnectionRefused);
    let gone = until_it_fails(&options, is_refused).await;
    assert_eq!(judged(Some(&gone)), (None, Refused));
}

/// Connects until there is the error that is waited for.
async fn until_it_fails(options: &PgConnectOptions, is_it: impl Fn(&Error) -> bool) -> Error {
    for _ in 0..2000 {
        if let Err(error) = PgConnection::connect_with(options).await
            && is_it(&error)
        {
            return error;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("10 s have passed, and no such error");
}
