//! The clients against servers: PostgreSQL, and answers written by hand.

#[path = "../../../examples/servers/mod.rs"]
mod servers;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use object_store::ObjectStoreExt as _;
use reattempt::Verdict::{self, Permanent, Refused, Throttled, Transient};
use reattempt::http::{CheckStatus as _, RequestError};
use reattempt::{Classify, retry};
use servers::Server;
use tokio_postgres::NoTls;

/// Sends each client one of `answers`, after what it has to say where it is the first to speak.
struct Script {
    address: SocketAddr,
    server: JoinHandle<()>,
}

impl Script {
    fn new(client_begins: bool, answers: Vec<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            for answer in answers {
                let (mut client, _) = listener.accept().unwrap();
                if client_begins {
                    let _head = client.read(&mut [0; 4096]).unwrap();
                }
                client.write_all(&answer).unwrap();
            }
        });
        Self { address, server }
    }

    fn http(answers: &[&str]) -> Self {
        let answers = answers
            .iter()
            .map(|answer| answer.replace('\n', "\r\n").into_bytes());
        Self::new(true, answers.collect())
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn end(self) {
        self.server.join().unwrap();
    }
}

/// Nobody listens there.
fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
}

fn verdict<T, E: Classify>(result: Result<T, E>) -> Option<Verdict> {
    result.err().map(|error| error.classify())
}

const BUSY: &str = "HTTP/1.1 429 Too Many Requests\nRetry-After: 7\nContent-Length: 0\n\n";
const GONE: &str = "HTTP/1.1 404 Not Found\nContent-Length: 0\n\n";
const BROKEN: &str = "HTTP/1.1 502 Bad Gateway\nContent-Length: 0\n\n";
const SLOW_DOWN: &str = "HTTP/1.1 503 Slow Down\nContent-Length: 8\n\nSlowDown";
const FINE: &str = "HTTP/1.1 200 OK\nContent-Length: 2\nConnection: close\n\nok";
const HALF: &str = "HTTP/1.1 200 OK\nContent-Length: 200\n\nok";

#[test]
fn ureq_says_what_broke() {
    let script = Script::http(&[BUSY, GONE, BROKEN, "", "nonsense\n\n", HALF]);
    // What is kept of a connection that the script closes is no matter here.
    let get = || ureq::get(script.url()).header("connection", "close").call();
    assert_eq!(verdict(get()), Some(Throttled(None)));
    assert_eq!(verdict(get()), Some(Permanent));
    assert_eq!(verdict(get()), Some(Transient));
    assert_eq!(verdict(get()), Some(Transient));
    assert_eq!(verdict(get()), Some(Permanent));
    let half = get().unwrap().into_body().read_to_string();
    assert_eq!(verdict(half), Some(Transient));
    script.end();
    let nobody = ureq::get(format!("http://{}", free_address())).call();
    assert_eq!(verdict(nobody), Some(Refused));
    let unknown = ureq::get("http://nowhere.invalid").call();
    assert_eq!(verdict(unknown), Some(Refused));
}

#[test]
fn ureq_is_retried_with_the_delay_of_the_service() {
    type Failure = RequestError<ureq::Error, ureq::http::Response<ureq::Body>>;

    #[retry(max = 3, base = "1ms", cap = "2ms")]
    fn page(agent: &ureq::Agent, url: &str) -> Result<String, Failure> {
        Ok(agent
            .get(url)
            .call()?
            .check_status()?
            .into_body()
            .read_to_string()?)
    }

    let config = ureq::Agent::config_builder().http_status_as_error(false);
    let agent = config.build().new_agent();
    let script = Script::http(&[BROKEN, "", FINE]);
    assert_eq!(page(&agent, &script.url()).unwrap(), "ok");
    script.end();

    let script = Script::http(&[BUSY]);
    let busy = agent.get(script.url()).call().unwrap().check_status();
    let asked = Throttled(Some(Duration::from_secs(7)));
    assert_eq!(verdict(busy), Some(asked));
    script.end();
}

/// What its client for HTTP asks for, also where it speaks without TLS.
fn install_tls() {
    // Another test may have been faster.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

async fn head(script: &str, max_retries: usize) -> Option<Verdict> {
    let backoff = object_store::BackoffConfig {
        init_backoff: Duration::from_millis(1),
        max_backoff: Duration::from_millis(1),
        base: 2.0,
    };
    let retries = object_store::RetryConfig {
        backoff,
        max_retries,
        retry_timeout: Duration::from_secs(60),
    };
    let store = object_store::http::HttpBuilder::new()
        .with_url(script)
        .with_retry(retries);
    let store = store.with_client_options(object_store::ClientOptions::new().with_allow_http(true));
    let answer = store.build().unwrap().get(&"a".into()).await;
    match answer {
        Ok(answer) => verdict(answer.bytes().await),
        Err(error) => Some(error.classify()),
    }
}

#[tokio::test]
async fn object_store_says_it_in_its_text() {
    install_tls();
    let script = Script::http(&[BUSY, BROKEN, SLOW_DOWN, GONE, ""]);
    for expected in [
        Throttled(None),
        Transient,
        Throttled(None),
        Permanent,
        Transient,
    ] {
        assert_eq!(head(&script.url(), 0).await, Some(expected));
    }
    script.end();
    let nobody = format!("http://{}", free_address());
    assert_eq!(head(&nobody, 0).await, Some(Refused));
    // After retries of its own nothing is proved.
    assert_eq!(head(&nobody, 2).await, Some(Transient));
    let script = Script::http(&[BROKEN, BUSY]);
    assert_eq!(head(&script.url(), 1).await, Some(Transient));
    script.end();
}

#[tokio::test]
async fn mysql_async_by_number() {
    let packet = |code: u16, text: &str| {
        let mut packet = vec![u8::try_from(3 + text.len()).unwrap(), 0, 0, 0, 0xff];
        packet.extend(code.to_le_bytes());
        packet.extend(text.as_bytes());
        packet
    };
    let answers = vec![
        packet(1040, "Too many connections"),
        packet(1130, "Host 'a' is not allowed to connect"),
        Vec::new(),
    ];
    let script = Script::new(false, answers);
    let connect = async |address: SocketAddr| {
        let options = mysql_async::OptsBuilder::default()
            .ip_or_hostname("127.0.0.1")
            .tcp_port(address.port());
        verdict(mysql_async::Conn::new(options).await)
    };
    assert_eq!(connect(script.address).await, Some(Throttled(None)));
    assert_eq!(connect(script.address).await, Some(Permanent));
    assert_eq!(connect(script.address).await, Some(Transient));
    script.end();
    assert_eq!(connect(free_address()).await, Some(Refused));
}

async fn connect(port: u16) -> Result<tokio_postgres::Client, tokio_postgres::Error> {
    let (client, connection) = config(port).connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

fn config(port: u16) -> tokio_postgres::Config {
    let mut config = tokio_postgres::Config::new();
    config
        .host("127.0.0.1")
        .port(port)
        .user("postgres")
        .dbname("postgres");
    config
}

#[tokio::test]
async fn tokio_postgres_by_state_and_by_what_broke() {
    let Some(mut server) = Server::postgres_with(&[
        "-c",
        "max_connections=5",
        "-c",
        "superuser_reserved_connections=0",
    ]) else {
        return;
    };
    let one = connect(server.port).await.unwrap();
    let two = connect(server.port).await.unwrap();
    let tables = "CREATE TABLE account (id int PRIMARY KEY, balance bigint, name text);
        INSERT INTO account VALUES (0, 0, 'a')";
    one.batch_execute(tables).await.unwrap();

    let twice = one
        .execute("INSERT INTO account VALUES (0, 0, 'a')", &[])
        .await;
    assert_eq!(verdict(twice), Some(Permanent));
    let mistake = one.query("SELEKT", &[]).await;
    assert_eq!(verdict(mistake), Some(Permanent));
    let parameters = one.query("SELECT $1::int", &[&"text"]).await;
    assert_eq!(verdict(parameters), Some(Permanent));

    // 40001: the other was faster; 55P03: the other has the lock.
    let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM account";
    one.batch_execute(begin).await.unwrap();
    two.batch_execute("BEGIN; UPDATE account SET balance = 1")
        .await
        .unwrap();
    let locked = one
        .batch_execute("SELECT FROM account FOR UPDATE NOWAIT")
        .await;
    assert_eq!(verdict(locked), Some(Refused));
    one.batch_execute("ROLLBACK").await.unwrap();
    one.batch_execute(begin).await.unwrap();
    two.batch_execute("COMMIT").await.unwrap();
    let slower = one.batch_execute("UPDATE account SET balance = 2").await;
    assert_eq!(verdict(slower), Some(Refused));
    one.batch_execute("ROLLBACK").await.unwrap();

    pools(server.port).await;

    // 53300: no connection is left.
    let mut clients = Vec::new();
    let refused = loop {
        match connect(server.port).await {
            Ok(client) => clients.push(client),
            Err(error) => break error,
        }
        assert!(clients.len() < 6, "there is always room");
    };
    assert_eq!(refused.classify(), Throttled(None), "{refused:?}");
    drop(clients);

    // The backend is stopped in the middle of a statement, and before the next one.
    let pid: i32 = two
        .query_one("SELECT pg_backend_pid()", &[])
        .await
        .unwrap()
        .get(0);
    let (stopped, _) = tokio::join!(two.batch_execute("SELECT pg_sleep(60)"), async {
        let asleep =
            "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep'";
        while one
            .query_one(asleep, &[&pid])
            .await
            .unwrap()
            .get::<_, i64>(0)
            == 0
        {
            tokio::task::yield_now().await;
        }
        one.execute("SELECT pg_terminate_backend($1)", &[&pid])
            .await
            .unwrap()
    });
    assert_eq!(verdict(stopped), Some(Transient));
    let after = two.batch_execute("SELECT").await;
    assert_eq!(verdict(after), Some(Transient));

    server.kill();
    let gone = connect(server.port).await;
    assert_eq!(verdict(gone), Some(Refused));
}

async fn pools(port: u16) {
    use deadpool_postgres::{Manager, Pool, Runtime};

    let manager = Manager::new(config(port), NoTls);
    let wait = Some(Duration::from_millis(1));
    let pool = Pool::builder(manager)
        .max_size(1)
        .runtime(Runtime::Tokio1)
        .wait_timeout(wait);
    let pool = pool.build().unwrap();
    assert_eq!(reattempt_client_tests::deposit(&pool, 0).await.unwrap(), 1);
    let held = pool.get().await.unwrap();
    assert_eq!(verdict(pool.get().await), Some(Refused));
    drop(held);
    pool.close();
    assert_eq!(verdict(pool.get().await), Some(Permanent));

    let nobody = Manager::new(config(free_address().port()), NoTls);
    let nobody = Pool::builder(nobody).build().unwrap();
    assert_eq!(verdict(nobody.get().await), Some(Refused));
}

/// Of bb8 what it says by itself, and what it passes on.
#[tokio::test]
async fn bb8_is_late_or_passes_on() {
    struct Nobody;

    impl bb8::ManageConnection for Nobody {
        type Connection = tokio::net::TcpStream;
        type Error = std::io::Error;

        async fn connect(&self) -> Result<Self::Connection, Self::Error> {
            tokio::net::TcpStream::connect(free_address()).await
        }

        async fn is_valid(&self, _: &mut Self::Connection) -> Result<(), Self::Error> {
            Ok(())
        }

        fn has_broken(&self, _: &mut Self::Connection) -> bool {
            false
        }
    }

    let pool = bb8::Pool::builder()
        .connection_timeout(Duration::from_millis(1))
        .build_unchecked(Nobody);
    assert_eq!(verdict(pool.get().await), Some(Refused));
    let passed: bb8::RunError<_> = std::io::Error::from(std::io::ErrorKind::BrokenPipe).into();
    assert_eq!(passed.classify(), Transient);
}
