//! Commands, locks, ports, actors, plugins: programs around what they call.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use reattempt::{RetryError, chain, deadline, retry, testing};
use tokio::sync::{mpsc, oneshot};

#[derive(Debug, thiserror::Error)]
enum SshError {
    #[error("ssh did not start")]
    Io(#[from] io::Error),
    #[error("ssh ended with {0}")]
    Exit(ExitStatus),
}

/// 255 says that the connection failed; other codes are those of the command.
#[retry(max = 5, base = "1s", on(SshError::Exit(status) if status.code() == Some(255)))]
fn ssh(code: &str, calls: &mut u32) -> Result<(), SshError> {
    *calls += 1;
    let status = Command::new("sh").args(["-c", code]).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(SshError::Exit(status))
    }
}

#[test]
fn command_of_ssh() {
    let _time = testing::virtual_time();
    for (code, attempts) in [("exit 255", 5), ("exit 1", 1), ("exit 0", 1)] {
        let mut calls = 0;
        assert_eq!(ssh(code, &mut calls).is_ok(), code == "exit 0");
        assert_eq!(calls, attempts);
    }
}

#[retry(
    max = "unlimited",
    deadline = "10s",
    backoff = "linear",
    base = "50ms",
    cap = "500ms",
    on(TryLockError::WouldBlock)
)]
fn lock(file: &File) -> Result<(), TryLockError> {
    file.try_lock()
}

#[test]
fn lock_of_a_file() {
    let time = testing::virtual_time();
    let path = std::env::temp_dir().join(format!("reattempt-jobs-lock-{}", std::process::id()));
    let (first, second) = (File::create(&path).unwrap(), File::open(&path).unwrap());
    lock(&first).unwrap();
    assert!(matches!(lock(&second), Err(TryLockError::WouldBlock)));
    assert!((9..=10).contains(&time.elapsed().as_secs()));
    first.unlock().unwrap();
    lock(&second).unwrap();
    std::fs::remove_file(path).unwrap();
}

#[retry(
    max = "unlimited",
    deadline = "30s",
    backoff = "fixed",
    base = "200ms",
    jitter = "none",
    on(_)
)]
fn wait_for(port: SocketAddr) -> io::Result<TcpStream> {
    let left = deadline::remaining().unwrap_or(Duration::MAX);
    TcpStream::connect_timeout(&port, left.min(Duration::from_secs(1)))
}

#[test]
fn port_that_is_not_up() {
    let time = testing::virtual_time();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    assert!(wait_for(listener.local_addr().unwrap()).is_ok());
    let nobody = SocketAddr::from(([127, 0, 0, 1], 1));
    assert!(wait_for(nobody).is_err());
    assert!((29..=30).contains(&time.elapsed().as_secs()));
}

struct Question {
    text: &'static str,
    answer: oneshot::Sender<Result<String, RetryError<io::Error>>>,
}

/// Owns a connection, and replaces it before a retry.
struct Actor {
    connected: bool,
    questions: mpsc::Receiver<Question>,
}

impl Actor {
    #[retry(timeout = "1s", before_retry = async |_| self.reconnect().await)]
    async fn ask(&mut self, text: &str) -> Result<String, RetryError<io::Error>> {
        if self.connected {
            Ok(format!("{text}, too"))
        } else {
            Err(ErrorKind::BrokenPipe.into())
        }
    }

    async fn reconnect(&mut self) {
        tokio::task::yield_now().await;
        self.connected = true;
    }

    async fn run(mut self) {
        while let Some(Question { text, answer }) = self.questions.recv().await {
            drop(answer.send(self.ask(text).await));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn actor() {
    let (sender, questions) = mpsc::channel(1);
    let task = tokio::spawn(
        Actor {
            connected: false,
            questions,
        }
        .run(),
    );
    let (answer, answered) = oneshot::channel();
    let text = "hello";
    sender.send(Question { text, answer }).await.ok().unwrap();
    assert_eq!(answered.await.unwrap().unwrap(), "hello, too");
    drop(sender);
    task.await.unwrap();
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

trait Plugin {
    fn name(&self) -> &str;
    fn run(&self, input: &str) -> Result<u32, BoxError>;
}

#[retry(on = chain![io::Error], on_retry = |retry| log.push(format!("{}, {}", plugin.name(), retry.attempt())))]
fn call(plugin: &dyn Plugin, input: &str, log: &mut Vec<String>) -> Result<u32, BoxError> {
    plugin.run(input)
}

struct Parser(AtomicU32);

impl Plugin for Parser {
    fn name(&self) -> &'static str {
        "parser"
    }

    fn run(&self, input: &str) -> Result<u32, BoxError> {
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => Err(io::Error::from(ErrorKind::TimedOut).into()),
            _ => Ok(input.parse()?),
        }
    }
}

#[test]
fn plugins_behind_a_trait_object() {
    let _time = testing::virtual_time();
    let (parser, mut log) = (Parser(AtomicU32::new(0)), Vec::new());
    assert_eq!(call(&parser, "7", &mut log).unwrap(), 7);
    assert!(call(&parser, "seven", &mut log).is_err());
    assert_eq!(log, ["parser, 1"]);
}

#[derive(Debug)]
enum Ended {
    Stopped,
    Broken,
}

#[retry(max = "unlimited", base = "1s", cap = "30s", on(Ended::Broken))]
fn work(stop: &AtomicBool, rounds: &mut u32) -> Result<(), Ended> {
    if stop.load(Ordering::Relaxed) {
        return Err(Ended::Stopped);
    }
    *rounds += 1;
    stop.store(*rounds == 40, Ordering::Relaxed); // what a handler of ctrl-c does
    Err(Ended::Broken)
}

#[test]
fn flag_that_stops_a_thread() {
    let _time = testing::virtual_time();
    let mut rounds = 0;
    let ended = work(&AtomicBool::new(false), &mut rounds);
    assert!(matches!(ended, Err(Ended::Stopped)));
    assert_eq!(rounds, 40);
}
