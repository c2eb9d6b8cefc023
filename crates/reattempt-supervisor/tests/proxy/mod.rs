//! A proxy in front of a server, which cuts connections in the middle of a transaction.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What happens to a connection whose client sends a `COMMIT`, or a write of tasks without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The server gets nothing of it, and the client a reset.
    BeforeTheSend,
    /// The client gets a reset, and the server gets everything after this time.
    Late(Duration),
    /// The server commits, and the client gets a reset in place of the answer.
    AnswerLost,
    /// Neither side gets anything any more, and the connection stays open.
    BlackHole,
}

/// How often each kind of cut has hit.
#[derive(Debug, Default)]
pub(crate) struct Hits {
    pub(crate) before_the_send: AtomicU32,
    pub(crate) late: AtomicU32,
    pub(crate) answer_lost: AtomicU32,
    pub(crate) black_hole: AtomicU32,
    /// The late transactions of live processes, on connections for writes of tasks, that the server
    /// has rolled back.
    pub(crate) late_and_rolled_back: AtomicU32,
    /// Those that it has committed.
    pub(crate) late_and_committed: Mutex<Vec<String>>,
}

/// Passes connections on to a server.
#[derive(Debug, Clone)]
pub(crate) struct Proxy {
    pub(crate) port: u16,
    armed: Arc<Mutex<Option<Cut>>>,
    hits: Arc<Hits>,
    /// How many processes have used it before.
    processes: Arc<AtomicU32>,
}

impl Proxy {
    /// Starts a proxy for a server on the loopback interface.
    pub(crate) async fn start(server: u16, hits: Arc<Hits>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Self {
            port: listener.local_addr().unwrap().port(),
            armed: Arc::default(),
            processes: Arc::default(),
            hits,
        };
        let this = proxy.clone();
        tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let this = this.clone();
                tokio::spawn(async move {
                    // A server that starts refuses connections.
                    if let Ok(server) = TcpStream::connect(("127.0.0.1", server)).await {
                        this.pass_on(client, server).await;
                    }
                });
            }
        });
        proxy
    }

    /// Cuts the next connection that sends a `COMMIT`.
    pub(crate) fn cut(&self, cut: Cut) {
        *self.armed.lock().unwrap() = Some(cut);
    }

    /// Notes that another process uses the proxy from here on. A transaction of a process that died
    /// may be committed late: no writer has repeated it, or has given up what it claims.
    pub(crate) fn change_process(&self) {
        self.processes.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns whether a cut still waits for a `COMMIT`.
    pub(crate) fn is_armed(&self) -> bool {
        self.armed.lock().unwrap().is_some()
    }

    async fn pass_on(self, client: TcpStream, server: TcpStream) {
        let _ = client.set_nodelay(true);
        let _ = server.set_nodelay(true);
        let (mut from_client, to_client) = client.into_split();
        let (from_server, mut to_server) = server.into_split();
        let (stop, stopped) = watch::channel(false);
        let answers = tokio::spawn(pass_answers(from_server, to_client, stopped));
        let mut bytes = vec![0; 1 << 16];
        let process = self.processes.load(Ordering::SeqCst);
        let mut statements = Statements::default();
        while let Ok(length @ 1..) = from_client.read(&mut bytes).await {
            let sent = &bytes[..length];
            // A late heartbeat does no harm, and creating what is there changes nothing.
            let writes_tasks = statements.write_tasks(sent);
            let is_commit = sent.windows(7).any(|word| word == b"COMMIT\0");
            let is_alone = writes_tasks && !sent.windows(6).any(|word| word == b"BEGIN ");
            // Cuts that prove the most wait for a write of tasks.
            let cut = self.armed.lock().unwrap().take_if(|cut| match cut {
                Cut::Late(_) => writes_tasks && (is_commit || is_alone),
                _ => is_commit || is_alone,
            });
            let Some(cut) = cut else {
                if to_server.write_all(sent).await.is_err() {
                    break;
                }
                continue;
            };
            // From here on the client gets no answer.
            stop.send_replace(true);
            let Ok((mut from_server, to_client)) = answers.await else {
                return;
            };
            let hits = &self.hits;
            match cut {
                Cut::BeforeTheSend => count(&hits.before_the_send),
                Cut::Late(after) => {
                    count(&hits.late);
                    drop((from_client, to_client));
                    tokio::time::sleep(after).await;
                    if to_server.write_all(sent).await.is_ok() {
                        let end = end_of_transaction(&mut from_server).await;
                        let is_alive = self.processes.load(Ordering::SeqCst) == process;
                        match end.filter(|_| is_alive && writes_tasks) {
                            Some(true) => {
                                let text = String::from_utf8_lossy(sent).into_owned();
                                hits.late_and_committed.lock().unwrap().push(text);
                            }
                            Some(false) => count(&hits.late_and_rolled_back),
                            None => {}
                        }
                    }
                }
                Cut::AnswerLost => {
                    if to_server.write_all(sent).await.is_ok()
                        && end_of_transaction(&mut from_server).await == Some(true)
                    {
                        count(&hits.answer_lost);
                    }
                }
                Cut::BlackHole => {
                    count(&hits.black_hole);
                    while let Ok(1..) = from_client.read(&mut bytes).await {}
                }
            }
            return;
        }
        answers.abort();
    }
}

fn count(hits: &AtomicU32) {
    hits.fetch_add(1, Ordering::SeqCst);
}

/// The statements that a connection has prepared.
#[derive(Default)]
struct Statements {
    has_begun: bool,
    /// Whether the connection is that of a writer: supervisors change tasks, too.
    is_writer: bool,
    /// The names of those that write tasks.
    writing: HashSet<Vec<u8>>,
    /// The beginning of a message whose end has not come.
    rest: Vec<u8>,
}

impl Statements {
    /// Takes note of what is prepared. Returns whether a writer carries out a statement that writes
    /// tasks.
    fn write_tasks(&mut self, sent: &[u8]) -> bool {
        if !std::mem::replace(&mut self.has_begun, true) {
            // The first message has another form.
            return false;
        }
        self.rest.extend_from_slice(sent);
        let all = std::mem::take(&mut self.rest);
        let mut writes_tasks = false;
        let left = each_message(&all, |kind, body| {
            let mut texts = body.split(|byte| *byte == 0);
            let (first, second) = (texts.next(), texts.next().unwrap_or_default());
            if kind == b'P' {
                let sql = String::from_utf8_lossy(second);
                let writes = ["INTO retry_step", "INTO retry_run", "UPDATE retry_run"];
                self.is_writer |= sql.contains("INTO retry_step");
                if writes.iter().any(|write| sql.contains(write)) {
                    self.writing.extend(first.map(<[u8]>::to_vec));
                }
            }
            writes_tasks |= kind == b'B' && self.writing.contains(second);
        });
        self.rest = left.to_vec();
        writes_tasks && self.is_writer
    }
}

/// Looks at each whole message, and returns the rest.
fn each_message(mut bytes: &[u8], mut look: impl FnMut(u8, &[u8])) -> &[u8] {
    while let [kind, a, b, c, d, rest @ ..] = bytes {
        let length = u32::from_be_bytes([*a, *b, *c, *d]);
        let length = usize::try_from(length).unwrap().saturating_sub(4);
        let Some((body, others)) = rest.split_at_checked(length) else {
            break;
        };
        look(*kind, body);
        bytes = others;
    }
    bytes
}

/// Passes the answers of the server on, and gives both ends back when it is stopped.
async fn pass_answers(
    mut from_server: OwnedReadHalf,
    mut to_client: OwnedWriteHalf,
    mut stopped: watch::Receiver<bool>,
) -> (OwnedReadHalf, OwnedWriteHalf) {
    let mut bytes = vec![0; 1 << 16];
    loop {
        let length = tokio::select! {
            length = from_server.read(&mut bytes) => length,
            _ = stopped.wait_for(|stopped| *stopped) => break,
        };
        match length {
            Ok(length @ 1..) if to_client.write_all(&bytes[..length]).await.is_ok() => {}
            _ => {
                let _ = to_client.shutdown().await;
                break;
            }
        }
    }
    (from_server, to_client)
}

/// Returns whether the server committed; `None` if the connection ended before.
async fn end_of_transaction(from_server: &mut OwnedReadHalf) -> Option<bool> {
    let mut answer = Vec::new();
    let mut bytes = vec![0; 1 << 16];
    loop {
        let reading = tokio::time::timeout(Duration::from_secs(5), from_server.read(&mut bytes));
        let length = reading.await.ok()?.ok().filter(|length| *length > 0)?;
        answer.extend_from_slice(&bytes[..length]);
        let (mut has_failed, mut is_over) = (false, false);
        each_message(&answer, |kind, body| {
            has_failed |= kind == b'E' || kind == b'C' && body == b"ROLLBACK\0";
            // The server is idle, and no transaction is open.
            is_over |= kind == b'Z' && body == b"I";
        });
        if is_over {
            return Some(!has_failed);
        }
    }
}
