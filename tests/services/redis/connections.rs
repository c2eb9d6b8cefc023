//! Connections that are killed, refused or too slow.

use std::time::Duration;

use reattempt::testing::{self};
use reattempt::{Verdict, retry};
use redis::aio::{ConnectionManager, ConnectionManagerConfig, MultiplexedConnection};
use redis::{AsyncCommands, Client, Commands};
use redis::{RedisError, RedisResult, Value};

use super::{assert_failed, connect, id, kill, line, open, say, until, waits, within};
use crate::servers::Server;

/// A connection that a retry replaces.
struct Shop {
    client: Client,
    connection: MultiplexedConnection,
}

impl Shop {
    async fn open(client: &Client) -> Self {
        let connection = connect(client).await.unwrap();
        let client = client.clone();
        Self { client, connection }
    }

    async fn reconnect(&mut self) {
        self.connection = connect(&self.client).await.unwrap();
    }

    #[retry(name = "stock", base = "1ms", jitter = "none",
        before_retry = async |_| self.reconnect().await)]
    async fn stock(&mut self) -> RedisResult<i64> {
        self.connection.get("stock").await
    }

    #[retry(name = "sell", base = "1ms", idempotent = false,
        before_retry = async |_| self.reconnect().await)]
    async fn sell(&mut self) -> RedisResult<i64> {
        self.connection.decr("stock", 1).await
    }

    #[retry(name = "order", base = "1ms", jitter = "none",
        before_retry = async |_| self.reconnect().await)]
    async fn order(&mut self) -> RedisResult<(String, i64)> {
        self.connection.blpop("orders", 0.0).await
    }
}

const LOST_ONCE: &str = "
    stock
      1. failed (transient), retry in 1ms
      2. succeeded
";
const LOST_WHILE_WAITING: &str = "
    order
      1. failed (transient), retry in 1ms
      2. succeeded
";

#[tokio::test]
async fn a_connection_that_is_killed_between_commands() {
    let Some((_server, client)) = open(&[]) else {
        return;
    };
    within(async {
        let mut other = connect(&client).await.unwrap();
        let mut shop = Shop::open(&client).await;
        say(&mut other, &["SET stock 7"]).await;

        let record = testing::record();
        kill(&mut other, &id(&mut shop.connection).await).await;
        assert_eq!(shop.stock().await, Ok(7));
        record.assert(LOST_ONCE);
        drop(record);

        let record = testing::record();
        kill(&mut other, &id(&mut shop.connection).await).await;
        assert!(shop.sell().await.unwrap_err().is_connection_dropped());
        record.assert(
            "
            sell
              1. failed (transient), gave up (not_idempotent)
            ",
        );
    })
    .await;
}

#[tokio::test]
async fn a_connection_that_is_killed_while_a_command_waits() {
    let Some((_server, client)) = open(&[]) else {
        return;
    };
    within(async {
        let mut other = connect(&client).await.unwrap();
        let mut shop = Shop::open(&client).await;
        let record = testing::record();
        let (order, ()) = tokio::join!(shop.order(), async {
            let first = until(async || waits(&mut other).await).await;
            kill(&mut other, &first).await;
            let second = until(async || waits(&mut other).await).await;
            assert_ne!(first, second);
            say(&mut other, &["RPUSH orders 7"]).await;
        });
        assert_eq!(order, Ok(("orders".to_owned(), 7)));
        record.assert(LOST_WHILE_WAITING);
    })
    .await;
}

/// The role changes under a command that waits.
#[tokio::test]
async fn a_failover_while_a_command_waits() {
    let Some((_server, client)) = open(&[]) else {
        return;
    };
    within(async {
        let mut other = connect(&client).await.unwrap();
        let mut shop = Shop::open(&client).await;
        let unblocked = async {
            let first = until(async || waits(&mut other).await).await;
            say(&mut other, &["REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"]).await;
            let second = until(async || waits(&mut other).await).await;
            assert_ne!(first, second);
            say(&mut other, &["RPUSH orders 7"]).await;
        };
        let record = testing::record();
        let (order, ()) = tokio::join!(shop.order(), unblocked);
        assert_eq!(order, Ok(("orders".to_owned(), 7)));
        record.assert(LOST_WHILE_WAITING);
    })
    .await;
}

/// It connects again by itself; the command that was lost is left to the caller.
#[tokio::test]
async fn a_connection_manager() {
    #[retry(name = "stock", base = "1ms", jitter = "none")]
    async fn stock(connection: &mut ConnectionManager) -> RedisResult<i64> {
        connection.get("stock").await
    }
    #[retry(name = "order", base = "1ms", jitter = "none")]
    async fn order(connection: &mut ConnectionManager) -> RedisResult<(String, i64)> {
        connection.blpop("orders", 0.0).await
    }

    let Some((_server, client)) = open(&[]) else {
        return;
    };
    within(async {
        let mut other = connect(&client).await.unwrap();
        let patient = ConnectionManagerConfig::new().set_response_timeout(None);
        let connection = client.get_connection_manager_with_config(patient).await;
        let mut connection = connection.unwrap();
        say(&mut other, &["SET stock 7"]).await;

        let record = testing::record();
        kill(&mut other, &id(&mut connection).await).await;
        assert_eq!(stock(&mut connection).await, Ok(7));
        record.assert(LOST_ONCE);
        drop(record);

        let record = testing::record();
        let (order, ()) = tokio::join!(order(&mut connection), async {
            let first = until(async || waits(&mut other).await).await;
            kill(&mut other, &first).await;
            let second = until(async || waits(&mut other).await).await;
            assert_ne!(first, second);
            say(&mut other, &["RPUSH orders 7"]).await;
        });
        assert_eq!(order, Ok(("orders".to_owned(), 7)));
        record.assert(LOST_WHILE_WAITING);
    })
    .await;
}

#[test]
fn a_connection_without_async() {
    #[retry(name = "stock", base = "1ms", jitter = "none",
        before_retry = |_| *connection = client.get_connection().unwrap())]
    fn stock(client: &Client, connection: &mut redis::Connection) -> RedisResult<i64> {
        connection.get("stock")
    }

    let Some((_server, client)) = open(&[]) else {
        return;
    };
    let mut other = client.get_connection().unwrap();
    let mut connection = client.get_connection().unwrap();
    line("SET stock 7").exec(&mut other).unwrap();
    let id: i64 = line("CLIENT ID").query(&mut connection).unwrap();
    line(&format!("CLIENT KILL ID {id}"))
        .exec(&mut other)
        .unwrap();

    let record = testing::record();
    assert_eq!(stock(&client, &mut connection), Ok(7));
    record.assert(LOST_ONCE);

    let short = Some(Duration::from_millis(20));
    connection.set_read_timeout(short).unwrap();
    let late: RedisResult<Value> = connection.blpop("orders", 0.0);
    assert_failed(late, None, Verdict::Transient);
}

#[tokio::test]
async fn an_answer_that_does_not_come_in_time() {
    let Some((_server, client)) = open(&[]) else {
        return;
    };
    within(async {
        let mut connection = connect(&client).await.unwrap();
        connection.set_response_timeout(Duration::from_millis(20));
        let late: RedisResult<Value> = connection.blpop("orders", 0.0).await;
        assert!(late.as_ref().is_err_and(RedisError::is_timeout));
        assert_failed(late, None, Verdict::Transient);
    })
    .await;
}

#[tokio::test]
async fn nobody_listens_until_the_server_is_back() {
    #[retry(name = "order", base = "1ms", jitter = "none", idempotent = false,
        before_retry = |_| server.restart_redis(&[]))]
    async fn order(client: &Client, server: &mut Server) -> RedisResult<i64> {
        connect(client).await?.incr("orders", 1).await
    }

    let Some((mut server, client)) = open(&[]) else {
        return;
    };
    server.kill();
    let record = testing::record();
    assert_eq!(within(order(&client, &mut server)).await, Ok(1));
    record.assert(
        "
        order
          1. failed (refused), retry in 1ms
          2. succeeded
        ",
    );
    let socket = server.folder().join("none");
    let nowhere = Client::open(format!("unix:{}", socket.display())).unwrap();
    assert_failed(connect(&nowhere).await, None, Verdict::Refused);
}

/// The server says so and hangs up; who sends something before reading that hears of a broken pipe.
#[tokio::test]
async fn more_clients_than_there_may_be() {
    #[retry(name = "stock", base = "1ms", jitter = "none",
        before_retry = async |_| say(first, &["QUIT"]).await)]
    async fn stock(client: &Client, first: &mut MultiplexedConnection) -> RedisResult<i64> {
        connect(client).await?.get("stock").await
    }

    let Some((_server, client)) = open(&["--maxclients", "1"]) else {
        return;
    };
    within(async {
        let mut first = until(async || connect(&client).await.ok()).await;
        say(&mut first, &["SET stock 7"]).await;

        let silent = client.get_connection_info().clone();
        let redis = silent.redis_settings().clone().set_skip_set_lib_name();
        let silent = Client::open(silent.set_redis_settings(redis)).unwrap();
        let mut silent = silent.get_connection().unwrap();
        let turned_away: RedisResult<i64> = silent.get("stock");
        assert_failed(turned_away, Some("ERR"), Verdict::Throttled(None));

        let record = testing::record();
        assert_eq!(stock(&client, &mut first).await, Ok(7));
        record.assert(LOST_ONCE);
    })
    .await;
}
