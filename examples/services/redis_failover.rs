//! A failover of Redis under an order that must not be counted twice: the primary dies, its
//! replica answers that it is read only, is promoted, and counts. Each refusal proves that
//! nothing was counted before.
//!
//! `cargo run -p service-examples --example redis_failover`
#![expect(clippy::panic_in_result_fn, reason = "an example asserts its result")]

use std::error::Error;
use std::sync::atomic::{AtomicU16, Ordering};

use reattempt::{Retry, RetryError, retry};
use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, Client, RedisError, RedisResult, cmd};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use servers::Server;

#[path = "../servers/mod.rs"]
mod servers;

struct Shop {
    /// The port of the primary, as a name service tells it.
    primary: AtomicU16,
    alarms: UnboundedSender<String>,
}

impl Shop {
    /// A refused connection and `READONLY` are retried; an answer that got lost would not be.
    #[retry(
        max = 20,
        backoff = "fixed",
        base = "50ms",
        idempotent = false,
        on_retry = |retry| self.report(retry),
    )]
    async fn count(&self) -> RedisResult<i64> {
        let mut connection = connect(self.primary.load(Ordering::Relaxed)).await?;
        connection.incr("orders", 1).await
    }

    fn report(&self, retry: &Retry<'_, RedisError>) {
        let Some(error) = retry.error() else { return };
        let (attempt, delay) = (retry.attempt(), retry.delay().as_millis());
        println!("attempt {attempt}: {error}; the next in {delay} ms");
        let word = error.code().unwrap_or_default();
        let _ = self.alarms.send(word.to_owned());
    }
}

async fn connect(port: u16) -> RedisResult<MultiplexedConnection> {
    let client = Client::open(format!("redis://127.0.0.1:{port}"))?;
    client.get_multiplexed_async_connection().await
}

/// Waits until a replica has what the primary has.
#[retry(
    max = 100,
    backoff = "fixed",
    base = "50ms",
    deadline = "10s",
    until = Option::is_some,
)]
async fn copied(replica: u16) -> Result<Option<i64>, RetryError<RedisError>> {
    connect(replica).await?.get("orders").await
}

/// At the first alarm tells the address of the replica, and promotes it when that was refused twice.
async fn operate(
    mut alarms: UnboundedReceiver<String>,
    shop: &Shop,
    replica: u16,
) -> RedisResult<()> {
    alarms.recv().await;
    println!("operator: the replica takes over");
    shop.primary.store(replica, Ordering::Relaxed);

    let mut refused = 0;
    while refused < 2 {
        let word = alarms.recv().await;
        refused += u8::from(word.as_deref() == Some("READONLY"));
    }
    println!("operator: and may write");
    let mut connection = connect(replica).await?;
    let mut promote = cmd("REPLICAOF");
    promote.arg("NO").arg("ONE");
    promote.exec_async(&mut connection).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let Some(primary) = Server::redis(&["--repl-diskless-sync-delay", "0"]) else {
        return Ok(()); // it said how to install it
    };
    let port = primary.port.to_string();
    let Some(replica) = Server::redis(&["--replicaof", "127.0.0.1", &port]) else {
        return Ok(());
    };
    let (alarms, alarmed) = unbounded_channel();
    let shop = Shop {
        primary: AtomicU16::new(primary.port),
        alarms,
    };
    assert_eq!(shop.count().await?, 1);
    assert_eq!(copied(replica.port).await?, Some(1));

    drop(primary);
    println!("the primary is gone");
    let operator = operate(alarmed, &shop, replica.port);
    let (orders, ()) = tokio::try_join!(shop.count(), operator)?;
    println!("order number {orders}");
    assert_eq!(orders, 2);

    let stored: i64 = connect(replica.port).await?.get("orders").await?;
    assert_eq!(stored, 2);
    Ok(())
}
