//! Redis: killed connections, a server that loads, a failover.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that panics has failed"
)]

use std::time::Duration;

use reattempt::testing::{self, AttemptEnd, Record};
use reattempt::{Classify, Failed, Verdict, retry};
use redis::aio::{
    ConnectionLike, ConnectionManager, ConnectionManagerConfig, MultiplexedConnection,
};
use redis::{AsyncCommands, AsyncConnectionConfig, Client, Cmd, Commands};
use redis::{RedisError, RedisResult, Value, cmd, pipe};

use tokio::task::JoinHandle;

use crate::servers::{Server, free_port};

/// A server, and a client of it.
fn open(options: &[&str]) -> Option<(Server, Client)> {
    let server = Server::redis(options)?;
    let client = Client::open(format!("redis://127.0.0.1:{}", server.port));
    Some((server, client.unwrap()))
}

/// A connection that waits for an answer as long as it takes.
async fn connect(client: &Client) -> RedisResult<MultiplexedConnection> {
    let patient = AsyncConnectionConfig::new().set_response_timeout(None);
    let connection = client.get_multiplexed_async_connection_with_config(&patient);
    connection.await
}

/// A test waits no longer than this for its servers.
async fn within<T>(test: impl Future<Output = T>) -> T {
    let ended = tokio::time::timeout(Duration::from_secs(10), test).await;
    ended.expect("the test takes too long")
}

/// Asks until there is an answer.
async fn until<T>(mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..2000 {
        if let Some(answer) = ask().await {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("it does not come");
}

/// A command as one writes it for `redis-cli`.
fn line(command: &str) -> Cmd {
    let mut words = command.split(' ');
    let mut command = cmd(words.next().unwrap());
    command.arg(words.collect::<Vec<_>>());
    command
}

async fn ask(connection: &mut impl ConnectionLike, command: &str) -> RedisResult<Value> {
    line(command).query_async(connection).await
}

async fn say(connection: &mut impl ConnectionLike, commands: &[&str]) {
    for command in commands {
        ask(connection, command).await.unwrap();
    }
}

async fn kill(connection: &mut impl ConnectionLike, id: &str) {
    say(connection, &[&format!("CLIENT KILL ID {id}")]).await;
}

async fn id(connection: &mut impl ConnectionLike) -> String {
    let id: i64 = line("CLIENT ID").query_async(connection).await.unwrap();
    id.to_string()
}

/// Which client waits in a blocking command.
async fn waits(connection: &mut impl ConnectionLike) -> Option<String> {
    let clients = line("CLIENT LIST").query_async(connection).await;
    let clients: String = clients.unwrap();
    let line = clients.lines().find(|line| line.contains(" flags=b "))?;
    let id = line.split(' ').next()?.strip_prefix("id=")?;
    Some(id.to_owned())
}

/// That it failed with this word of the server, and what that means.
#[track_caller]
fn assert_failed<T>(answer: RedisResult<T>, word: Option<&str>, verdict: Verdict) {
    let error = answer.err().expect("it succeeded");
    assert_eq!((error.code(), error.classify()), (word, verdict), "{error}");
}

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
              1. failed (transient), gave up (permanent)
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

/// Not to be done twice; `mend` is what has to happen before it can be done.
#[retry(name = "once", max = 2, base = "1ms", jitter = "none", idempotent = false,
    before_retry = async |_| say(connection, mend).await)]
async fn once(connection: &mut MultiplexedConnection, mend: &[&str]) -> RedisResult<i64> {
    connection.incr("orders", 1).await
}

const REFUSED_ONCE: &str = "
    once
      1. failed (refused), retry in 1ms
      2. succeeded
";
const THROTTLED_ONCE: &str = "
    once
      1. failed (throttled), retry in 1ms
      2. succeeded
";

#[tokio::test]
async fn turned_away_until_it_is_mended() {
    let Some((_server, client)) = open(&[]) else {
        return;
    };
    within(async {
        let mut connection = connect(&client).await.unwrap();
        let replica = "REPLICAOF 127.0.0.1 1";
        let mut orders = 0;
        for (word, damage, command, mend) in [
            ("READONLY", replica, "INCR orders", "REPLICAOF NO ONE"),
            (
                "READONLY",
                replica,
                "EVAL return{redis.call('INCR','orders')} 0",
                "REPLICAOF NO ONE",
            ),
            ("MASTERDOWN", replica, "GET orders", "REPLICAOF NO ONE"),
            (
                "NOREPLICAS",
                "CONFIG SET min-replicas-to-write 1",
                "INCR orders",
                "CONFIG SET min-replicas-to-write 0",
            ),
            (
                "OOM",
                "CONFIG SET maxmemory 1",
                "INCR orders",
                "CONFIG SET maxmemory 0",
            ),
        ] {
            let stale = if word == "MASTERDOWN" { "no" } else { "yes" };
            let stale = format!("CONFIG SET replica-serve-stale-data {stale}");
            say(&mut connection, &[&stale, damage]).await;
            let (verdict, expected) = match word {
                "OOM" => (Verdict::Throttled(None), THROTTLED_ONCE),
                _ => (Verdict::Refused, REFUSED_ONCE),
            };
            let answer = ask(&mut connection, command).await;
            assert_failed(answer, Some(word), verdict);

            orders += 1;
            let record = testing::record();
            assert_eq!(once(&mut connection, &[mend]).await, Ok(orders));
            record.assert(expected);
        }
    })
    .await;
}

#[tokio::test]
async fn a_script_that_does_not_end() {
    /// Told to stop, a script goes on for a moment.
    #[retry(name = "once", base = "1ms", jitter = "none", idempotent = false,
        before_retry = async |_| {
            say(connection, &["SCRIPT KILL"]).await;
            let stopped = (&mut *script).await;
            assert_failed(stopped.unwrap(), Some("ERR"), Verdict::Permanent);
        })]
    async fn once(
        connection: &mut MultiplexedConnection,
        script: &mut JoinHandle<RedisResult<Value>>,
    ) -> RedisResult<i64> {
        connection.incr("orders", 1).await
    }

    let Some((_server, client)) = open(&["--busy-reply-threshold", "1"]) else {
        return;
    };
    within(async {
        let mut connection = connect(&client).await.unwrap();
        let mut other = connect(&client).await.unwrap();
        let script = async move { ask(&mut other, "EVAL while(1)do(type)(1)end 0").await };
        let mut script = tokio::spawn(script);
        let busy = until(async || ask(&mut connection, "GET orders").await.err()).await;
        assert_failed::<()>(Err(busy), Some("BUSY"), Verdict::Throttled(None));

        let record = testing::record();
        assert_eq!(once(&mut connection, &mut script).await, Ok(1));
        record.assert(THROTTLED_ONCE);
    })
    .await;
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

#[tokio::test]
async fn what_another_attempt_does_not_mend() {
    let Some((server, client)) = open(&[]) else {
        return;
    };
    within(async {
        let mut connection = connect(&client).await.unwrap();
        say(
            &mut connection,
            &["RPUSH list 7", "ACL SETUSER reader on nopass +get ~*"],
        )
        .await;
        for (command, word) in [
            ("INCR list", "WRONGTYPE"),
            ("INCR", "ERR"),
            ("EVALSHA 7 0", "NOSCRIPT"),
            ("SCRIPT KILL", "NOTBUSY"),
            ("AUTH nobody secret", "WRONGPASS"),
        ] {
            let answer = ask(&mut connection, command).await;
            assert_failed(answer, Some(word), Verdict::Permanent);
        }

        // A dump that cannot be written: a folder is in its place.
        std::fs::create_dir(server.folder().join("dump.rdb")).unwrap();
        line("CONFIG SET save")
            .arg("3600 1")
            .exec_async(&mut connection)
            .await
            .unwrap();
        say(&mut connection, &["BGSAVE"]).await;
        let full = until(async || ask(&mut connection, "INCR orders").await.err()).await;
        assert_failed::<()>(Err(full), Some("MISCONF"), Verdict::Permanent);

        say(&mut connection, &["AUTH reader any"]).await;
        let answer = ask(&mut connection, "INCR orders").await;
        assert_failed(answer, Some("NOPERM"), Verdict::Permanent);
    })
    .await;
}

#[tokio::test]
async fn who_is_not_let_in_asks_once() {
    let Some((_server, client)) = open(&["--requirepass", "secret"]) else {
        return;
    };
    within(async {
        let mut connection = connect(&client).await.unwrap();
        let record = testing::record();
        let answer = once(&mut connection, &[]).await;
        assert_failed(answer, Some("NOAUTH"), Verdict::Permanent);
        record.assert(
            "
            once
              1. failed (permanent), gave up (permanent)
            ",
        );
        let redis = client
            .get_connection_info()
            .redis_settings()
            .clone()
            .set_password("wrong");
        let info = client
            .get_connection_info()
            .clone()
            .set_redis_settings(redis);
        let wrong = connect(&Client::open(info).unwrap()).await;
        assert_failed(wrong, None, Verdict::Permanent);
    })
    .await;
}

/// As often as it takes; mends before the third attempt.
#[retry(name = "patient", max = 1000, backoff = "fixed", base = "5ms", jitter = "none",
    deadline = "8s", idempotent = false,
    before_retry = async |retry| if retry.attempt() == 2 { say(connection, mend).await })]
async fn patient(
    connection: &mut MultiplexedConnection,
    mend: &[&str],
) -> Result<i64, Failed<RedisError>> {
    connection.incr("orders", 1).await
}

fn assert_refused_until_it_succeeded(record: &Record) {
    let calls = record.calls();
    let (last, before) = calls[0].attempts().split_last().unwrap();
    assert!(!before.is_empty());
    for attempt in before {
        let refused = AttemptEnd::Failed(Verdict::Refused);
        assert_eq!(attempt.end(), refused, "{record}");
    }
    assert_eq!(last.end(), AttemptEnd::Succeeded);
}

#[tokio::test]
async fn a_server_that_loads() {
    let Some((mut server, client)) = open(&["--rdbcompression", "no"]) else {
        return;
    };
    within(async {
        let mut connection = connect(&client).await.unwrap();
        let text = "x".repeat(100);
        let many: Vec<_> = (0..200).map(|number| (number, &text)).collect();
        let () = connection.mset(&many).await.unwrap();
        say(&mut connection, &["SET orders 6", "SAVE"]).await;

        // 4 ms for each of them, and a look at the clients after every kilobyte.
        let slow = [
            "--key-load-delay",
            "4000",
            "--loading-process-events-interval-bytes",
            "1024",
        ];
        server.restart_redis(&slow);
        let mut connection = connect(&client).await.unwrap();
        let loading = ask(&mut connection, "GET orders").await;
        assert_failed(loading, Some("LOADING"), Verdict::Refused);

        let record = testing::record();
        assert_eq!(patient(&mut connection, &[]).await.unwrap(), 7);
        assert_refused_until_it_succeeded(&record);
    })
    .await;
}

/// A primary and its replica; the primary dies, and the replica takes its place.
#[tokio::test]
async fn a_failover() {
    let Some((primary, client)) = open(&["--repl-diskless-sync-delay", "0"]) else {
        return;
    };
    let port = primary.port.to_string();
    let Some((_replica, second)) = open(&["--replicaof", "127.0.0.1", &port]) else {
        return;
    };
    within(async {
        let mut first = connect(&client).await.unwrap();
        let mut connection = connect(&second).await.unwrap();
        say(&mut first, &["SET stock 7"]).await;
        let copied = async || connection.get::<_, Option<i64>>("stock").await.unwrap();
        assert_eq!(until(copied).await, 7);
        drop(primary);

        let record = testing::record();
        let promote = ["REPLICAOF NO ONE"];
        assert_eq!(patient(&mut connection, &promote).await.unwrap(), 1);
        record.assert(
            "
            patient
              1. failed (refused), retry in 5ms
              2. failed (refused), retry in 5ms
              3. succeeded
            ",
        );
        assert_eq!(connection.get("orders").await, Ok(1));
    })
    .await;
}

#[tokio::test]
async fn parts_of_a_pipeline() {
    let Some((_server, client)) = open(&[]) else {
        return;
    };
    within(async {
        let mut connection = connect(&client).await.unwrap();
        let mut two = pipe();
        two.incr("orders", 1).incr("sold", 1);
        let mut both = two.clone();
        both.atomic();
        let mut read_too = pipe();
        read_too.get("orders").incr("orders", 1);

        say(&mut connection, &["REPLICAOF 127.0.0.1 1"]).await;
        let answer: RedisResult<Value> = both.query_async(&mut connection).await;
        assert_failed(answer, Some("EXECABORT"), Verdict::Refused);
        let answer: RedisResult<Value> = read_too.query_async(&mut connection).await;
        assert_failed(answer, Some("READONLY"), Verdict::Transient);

        say(
            &mut connection,
            &["REPLICAOF NO ONE", "CONFIG SET maxmemory 1"],
        )
        .await;
        let answer: RedisResult<Value> = both.query_async(&mut connection).await;
        assert_failed(answer, Some("EXECABORT"), Verdict::Throttled(None));

        // Executed as far as it goes, in a transaction too.
        say(&mut connection, &["CONFIG SET maxmemory 0", "RPUSH sold 7"]).await;
        for orders in 1..=2 {
            let pipeline = if orders == 1 { &two } else { &both };
            let answer: RedisResult<Value> = pipeline.query_async(&mut connection).await;
            assert_failed(answer, None, Verdict::Permanent);
            assert_eq!(connection.get("orders").await, Ok(orders));
        }
    })
    .await;
}

/// Two nodes: the first gets all slots, then gives one away.
#[tokio::test]
async fn a_cluster() {
    let bus = [free_port().to_string(), free_port().to_string()];
    let node = |bus| {
        open(&[
            "--cluster-enabled",
            "yes",
            "--cluster-node-timeout",
            "1000",
            "--cluster-port",
            bus,
        ])
    };
    let (Some((_one, one)), Some((two, second))) = (node(&bus[0]), node(&bus[1])) else {
        return;
    };
    within(async {
        let mut first = connect(&one).await.unwrap();
        let mut second = connect(&second).await.unwrap();
        let answer = ask(&mut first, "GET orders").await;
        assert_failed(answer, Some("CLUSTERDOWN"), Verdict::Refused);

        let meet = format!("CLUSTER MEET 127.0.0.1 {} {}", two.port, bus[1]);
        let record = testing::record();
        assert_eq!(
            patient(&mut first, &["CLUSTER ADDSLOTSRANGE 0 16383", &meet])
                .await
                .unwrap(),
            1
        );
        assert_refused_until_it_succeeded(&record);

        let elsewhere = until(async || {
            ask(&mut second, "GET orders")
                .await
                .err()
                .filter(|error| error.code() == Some("MOVED"))
        });
        assert_failed::<()>(Err(elsewhere.await), Some("MOVED"), Verdict::Refused);

        let id: String = line("CLUSTER MYID").query_async(&mut second).await.unwrap();
        let slot: u16 = line("CLUSTER KEYSLOT orders")
            .query_async(&mut first)
            .await
            .unwrap();
        let migrating = format!("CLUSTER SETSLOT {slot} MIGRATING {id}");
        say(&mut first, &[&migrating]).await;
        for (command, word, verdict) in [
            ("GET {orders}2", "ASK", Verdict::Refused),
            ("MGET orders {orders}2", "TRYAGAIN", Verdict::Refused),
            ("MGET orders sold", "CROSSSLOT", Verdict::Permanent),
        ] {
            assert_failed(ask(&mut first, command).await, Some(word), verdict);
        }
    })
    .await;
}
