//! Transactions on PostgreSQL.

mod commits;
mod conflicts;
mod errors;
mod older;
mod proxy;

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use reattempt::{Classify, Verdict};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgSslMode};
use sqlx::{AssertSqlSafe, Executor, PgPool};

use crate::servers::Server;

/// A schema of the test's own, on a server that all tests share.
struct Base {
    options: PgConnectOptions,
    pool: PgPool,
    server: Arc<Server>,
}

impl Base {
    /// `None` where PostgreSQL is not installed.
    async fn start(schema: &str, tables: &str) -> Option<Self> {
        let server = shared()?;
        let options = connecting(&server)
            .application_name(schema)
            // Deadlocks are looked for at once, not after a second.
            .options([("search_path", schema), ("deadlock_timeout", "10ms")]);
        let pool = PgPoolOptions::new().max_connections(8);
        let pool = pool.connect_with(options.clone()).await.unwrap();
        let script = format!("CREATE SCHEMA {schema}; {tables}");
        pool.execute(AssertSqlSafe(script)).await.unwrap();
        Some(Self {
            options,
            pool,
            server,
        })
    }

    /// Ends a backend, and answers when it is gone.
    async fn kill(&self, backend: i32) {
        let kill = sqlx::query_scalar("SELECT pg_terminate_backend($1, 10000)").bind(backend);
        let is_gone: bool = kill.fetch_one(&self.pool).await.unwrap();
        assert!(is_gone, "the backend does not end");
    }

    /// Until the answer is `true`.
    async fn until(&self, question: &'static str) {
        for _ in 0..2000 {
            let answer = sqlx::query_scalar(question).fetch_one(&self.pool).await;
            if answer.unwrap() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("10 s have passed, and still not: {question}");
    }

    /// The one number that `question` answers with.
    async fn number(&self, question: &'static str) -> i64 {
        let answer = sqlx::query_scalar(question).fetch_one(&self.pool).await;
        answer.unwrap()
    }
}

/// The first test starts it, and the last one that holds it stops it.
fn shared() -> Option<Arc<Server>> {
    static SERVER: Mutex<Weak<Server>> = Mutex::new(Weak::new());
    let mut shared = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    let server = match shared.upgrade() {
        Some(server) => server,
        None => Arc::new(Server::postgres()?),
    };
    *shared = Arc::downgrade(&server);
    Some(server)
}

fn connecting(server: &Server) -> PgConnectOptions {
    PgConnectOptions::new_without_pgpass()
        .host("127.0.0.1")
        .port(server.port)
        .username("postgres")
        .database("postgres")
        .ssl_mode(PgSslMode::Disable)
}

/// The state that the database answered with, if it did, and the verdict.
fn judged(error: Option<&sqlx::Error>) -> (Option<String>, Verdict) {
    let error = error.expect("there is no error");
    (state(error), error.classify())
}

fn state(error: &sqlx::Error) -> Option<String> {
    Some(error.as_database_error()?.code()?.into_owned())
}
