//! What the errors of sqlx 0.8 mean, which are types of their own.

use std::net::Ipv4Addr;

use reattempt::Classify as _;
use reattempt::Verdict::{self, Permanent, Refused, Transient};
use sqlx08::postgres::{PgConnectOptions, PgSslMode};
use sqlx08::{Connection as _, Error, Executor as _, PgConnection};
use tokio::net::TcpSocket;

use super::Base;

const TABLES: &str = "
    CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL);
    INSERT INTO account VALUES (0, 0), (1, 0);
";

fn options(port: u16) -> PgConnectOptions {
    PgConnectOptions::new_without_pgpass()
        .host("127.0.0.1")
        .port(port)
        .username("postgres")
        .database("postgres")
        .ssl_mode(PgSslMode::Disable)
}

async fn connect(base: &Base, schema: &str) -> PgConnection {
    let options = options(base.server.port).options([("search_path", schema)]);
    PgConnection::connect_with(&options).await.unwrap()
}

fn judged(error: &Error) -> (Option<String>, Verdict) {
    let state = error
        .as_database_error()
        .and_then(sqlx08::error::DatabaseError::code);
    (state.map(Into::into), error.classify())
}

async fn of(connection: &mut PgConnection, statement: &str) -> (Option<String>, Verdict) {
    judged(&connection.execute(statement).await.unwrap_err())
}

fn said(state: &str, verdict: Verdict) -> (Option<String>, Verdict) {
    (Some(state.to_owned()), verdict)
}

#[tokio::test]
async fn what_the_server_says() {
    let Some(base) = Base::start("older", TABLES).await else {
        return;
    };
    let (mut one, mut two) = (connect(&base, "older").await, connect(&base, "older").await);

    let begin = "BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT FROM account";
    one.execute(begin).await.unwrap();
    two.execute("UPDATE account SET balance = 1").await.unwrap();
    let update = "UPDATE account SET balance = 2";
    assert_eq!(of(&mut one, update).await, said("40001", Refused));
    assert_eq!(of(&mut one, "SELECT 1").await, said("25P02", Permanent));
    one.execute("ROLLBACK").await.unwrap();

    let twice = "INSERT INTO account VALUES (0, 0)";
    assert_eq!(of(&mut one, twice).await, said("23505", Permanent));

    // Killed, perhaps after what it has been asked for; then there is nobody at the other end.
    let backend = sqlx08::query_scalar("SELECT pg_backend_pid()");
    base.kill(backend.fetch_one(&mut one).await.unwrap()).await;
    assert_eq!(of(&mut one, "SELECT 1").await, said("57P01", Transient));
    assert_eq!(of(&mut one, "SELECT 1").await, (None, Transient));
}

#[tokio::test]
async fn nobody_listens() {
    // Held, so that nobody else comes to listen there.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let port = socket.local_addr().unwrap().port();
    let error = PgConnection::connect_with(&options(port))
        .await
        .unwrap_err();
    assert_eq!(judged(&error), (None, Refused), "{error:?}");
}
