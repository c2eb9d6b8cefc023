//! A server that loads, a failover, pipelines and clusters.

use reattempt::testing::{self, AttemptEnd, Record};
use reattempt::{RetryError, Verdict, retry};
use redis::AsyncCommands;
use redis::aio::MultiplexedConnection;
use redis::{RedisError, RedisResult, Value, pipe};

use super::{ask, assert_failed, connect, line, open, say, until, within};
use crate::servers::free_port;

/// As often as it takes; recovers before the third attempt.
#[retry(name = "patient", max = 800, backoff = "fixed", base = "10ms", jitter = "none",
    deadline = "8s", idempotent = false,
    before_retry = async |retry| if retry.attempt() == 2 { say(connection, fix).await })]
async fn patient(
    connection: &mut MultiplexedConnection,
    fix: &[&str],
) -> Result<i64, RetryError<RedisError>> {
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
              1. failed (refused), retry in 10ms
              2. failed (refused), retry in 10ms
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
