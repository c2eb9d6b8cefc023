//! Redis: killed connections, a server that loads, a failover.

mod connections;
mod failover;
mod words;

use std::time::Duration;

use reattempt::{Classify, Verdict};
use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{AsyncConnectionConfig, Client, Cmd, RedisResult, Value, cmd};

use crate::servers::Server;

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
