//! A transaction of sqlx, a client of tonic, a connection manager of redis.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use reattempt::retry;
use redis::AsyncCommands;
use redis::aio::ConnectionManager;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use sqlx::{Sqlite, Transaction};
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Status};
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

/// `other` has the lock until the first retry.
#[retry(
    max = 10,
    base = "1ms",
    cap = "200ms",
    idempotent = false,
    before_retry = async |_| if let Some(other) = other.take() { other.rollback().await.unwrap() },
)]
async fn transfer(
    pool: &SqlitePool,
    amount: i64,
    other: &mut Option<Transaction<'static, Sqlite>>,
) -> sqlx::Result<()> {
    let mut tx = pool.begin_with("BEGIN IMMEDIATE").await?;
    for (id, change) in [(1, -amount), (2, amount)] {
        sqlx::query("UPDATE account SET balance = balance + $2 WHERE id = $1")
            .bind(id)
            .bind(change)
            .execute(&mut *tx)
            .await?;
    }
    tx.commit().await
}

#[tokio::test]
async fn transaction_of_sqlx() {
    let path = std::env::temp_dir().join(format!("reattempt-jobs-{}.db", std::process::id()));
    let options = SqliteConnectOptions::new()
        .filename(&path)
        .create_if_missing(true)
        .busy_timeout(std::time::Duration::ZERO);
    let pool = SqlitePoolOptions::new()
        .connect_with(options)
        .await
        .unwrap();
    let table = "CREATE TABLE account (id int, balance int CHECK (balance >= 0)); \
                 INSERT INTO account VALUES (1, 7), (2, 0)";
    sqlx::raw_sql(table).execute(&pool).await.unwrap();

    let mut other = Some(pool.begin_with("BEGIN IMMEDIATE").await.unwrap());
    transfer(&pool, 5, &mut other).await.unwrap();
    assert!(other.is_none(), "it was not retried");

    let mut other = Some(pool.begin().await.unwrap());
    assert!(transfer(&pool, 5, &mut other).await.is_err());
    assert!(other.is_some(), "the constraint was retried");
    let balances: Vec<i64> = sqlx::query_scalar("SELECT balance FROM account ORDER BY id")
        .fetch_all(&pool)
        .await
        .unwrap();
    assert_eq!(balances, [2, 5]);
    drop(other);
    pool.close().await;
    std::fs::remove_file(path).unwrap();
}

struct Busy(Arc<AtomicU32>);

#[tonic::async_trait]
impl Health for Busy {
    type WatchStream = tonic::codegen::BoxStream<HealthCheckResponse>;

    async fn check(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<tonic::Response<HealthCheckResponse>, Status> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => Err(Status::unavailable("starting")),
            1 => Ok(tonic::Response::new(HealthCheckResponse { status: 1 })),
            _ => Err(Status::not_found("no such service")),
        }
    }

    async fn watch(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<tonic::Response<Self::WatchStream>, Status> {
        Err(Status::unimplemented("watch"))
    }
}

#[retry(max = 5, base = "50ms")]
async fn check(mut client: HealthClient<Channel>) -> Result<HealthCheckResponse, Status> {
    Ok(client
        .check(HealthCheckRequest::default())
        .await?
        .into_inner())
}

#[tokio::test(start_paused = true)]
async fn client_of_tonic() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let calls = Arc::new(AtomicU32::new(0));
    let health = HealthServer::new(Busy(Arc::clone(&calls)));
    tokio::spawn(
        Server::builder()
            .add_service(health)
            .serve_with_incoming(TcpIncoming::from(listener)),
    );

    let channel = Endpoint::try_from(url).unwrap().connect_lazy();
    let client = HealthClient::new(channel);
    assert_eq!(check(client.clone()).await.unwrap().status, 1);
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    assert!(check(client).await.is_err());
    assert_eq!(calls.load(Ordering::Relaxed), 3);
}

#[retry(max = 5, base = "1ms")]
async fn read(redis: &mut ConnectionManager, key: &str) -> redis::RedisResult<u32> {
    redis.get(key).await
}

/// One connection: `GET` fails while the server loads its data, then the answer is 7.
fn loading(listener: &TcpListener) -> std::io::Result<()> {
    let (mut connection, _) = listener.accept()?;
    let mut lines = BufReader::new(connection.try_clone()?);
    let mut gets = 0;
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let words = line.trim_start_matches('*').trim().parse().unwrap();
        let mut command = Vec::new();
        for _ in 0..words {
            line.clear();
            lines.read_line(&mut line)?;
            let mut word = vec![
                0;
                line.trim_start_matches('$')
                    .trim()
                    .parse::<usize>()
                    .unwrap()
                    + 2
            ];
            lines.read_exact(&mut word)?;
            command.push(word);
        }
        let answer = match (&*command[0], gets) {
            (b"GET\r\n", 0) => "-LOADING Redis is loading the dataset in memory\r\n",
            (b"GET\r\n", _) => "$1\r\n7\r\n",
            _ => "+OK\r\n",
        };
        gets += u32::from(&*command[0] == b"GET\r\n");
        connection.write_all(answer.as_bytes())?;
    }
}

#[tokio::test]
async fn connection_manager_of_redis() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || loading(&listener));
    let mut redis = redis::Client::open(url)
        .unwrap()
        .get_connection_manager()
        .await
        .unwrap();
    assert_eq!(read(&mut redis, "stock").await.unwrap(), 7);
}
