//! What the server says instead of an answer.

use reattempt::testing::{self};
use reattempt::{Verdict, retry};
use redis::aio::MultiplexedConnection;
use redis::{AsyncCommands, Client};
use redis::{RedisResult, Value};
use tokio::task::JoinHandle;

use super::{ask, assert_failed, connect, line, open, say, until, within};

/// Not to be done twice; `fix` is what has to happen before it can be done.
#[retry(name = "once", max = 2, base = "1ms", throttled_base = "1ms", jitter = "none", idempotent = false,
    before_retry = async |_| say(connection, fix).await)]
async fn once(connection: &mut MultiplexedConnection, fix: &[&str]) -> RedisResult<i64> {
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
async fn turned_away_until_it_is_fixed() {
    let Some((_server, client)) = open(&[]) else {
        return;
    };
    within(async {
        let mut connection = connect(&client).await.unwrap();
        let replica = "REPLICAOF 127.0.0.1 1";
        let mut orders = 0;
        for (word, damage, command, fix) in [
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
            assert_eq!(once(&mut connection, &[fix]).await, Ok(orders));
            record.assert(expected);
        }
    })
    .await;
}

#[tokio::test]
async fn a_script_that_does_not_end() {
    /// A script that is stopped goes on for a moment.
    #[retry(name = "once", base = "1ms", throttled_base = "1ms", jitter = "none", idempotent = false,
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

#[tokio::test]
async fn what_another_attempt_does_not_fix() {
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
