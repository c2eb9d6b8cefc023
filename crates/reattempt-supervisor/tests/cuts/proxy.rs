//! Stands between a store and PostgreSQL, and cuts connections at a transaction that is sent in one
//! go. It counts the cuts of each kind.
#![allow(dead_code, reason = "each program uses some of it")]
#![allow(
    clippy::unwrap_used,
    reason = "a test ends where its proxy does not start"
)]

use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What happens to a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Cut {
    /// The server never gets it, and the client loses its connection.
    BeforeTheSend,
    /// The client loses its connection first; the server gets it at [`Proxy::deliver_late`].
    DeliveredLate,
    /// It is committed, and the client loses its connection without an answer.
    AnswerLost,
    /// From here on all connections that are open now stay open, and nothing comes through them.
    BlackHole,
}

/// A proxy at a port of its own.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// The next cuts, and a part of a statement of the transaction at which each takes place.
    armed: Mutex<Vec<(Cut, &'static str)>>,
    hits: Mutex<HashMap<Cut, u32>>,
    /// The number of connections so far, and how many of them are black holes: the oldest.
    connections: AtomicU64,
    holes: AtomicU64,
    late: Mutex<Vec<Late>>,
    /// The bytes that the server has sent.
    received: AtomicU64,
}

/// A transaction that the server has not got yet.
#[derive(Debug)]
struct Late {
    transaction: Vec<u8>,
    server: OwnedWriteHalf,
    link: Arc<Link>,
    replies: u64,
}

impl Proxy {
    /// Starts a proxy before the server at a port.
    pub(crate) async fn start(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let proxy = Self {
            port: listener.local_addr().unwrap().port(),
            shared: Arc::default(),
        };
        let shared = Arc::clone(&proxy.shared);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                // A server that restarts refuses connections.
                if let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).await {
                    relay(client, server, &shared);
                }
            }
        });
        proxy
    }

    /// Cuts the next transaction with a statement that contains this text.
    pub(crate) fn cut(&self, cut: Cut, at: &'static str) {
        self.shared.armed.lock().unwrap().push((cut, at));
    }

    /// Returns how many cuts of this kind have taken place.
    pub(crate) fn hits(&self, cut: Cut) -> u32 {
        let hits = self.shared.hits.lock().unwrap();
        hits.get(&cut).copied().unwrap_or(0)
    }

    /// Returns how many bytes the server has sent so far, on all connections.
    pub(crate) fn received(&self) -> u64 {
        self.shared.received.load(Ordering::SeqCst)
    }

    /// Delivers the transactions that were cut by [`Cut::DeliveredLate`]. Returns the codes of the
    /// errors with which the server answered.
    pub(crate) async fn deliver_late(&self) -> Vec<String> {
        let late = std::mem::take(&mut *self.shared.late.lock().unwrap());
        let mut codes = Vec::new();
        for mut late in late {
            // The server may have ended the connection.
            if late.server.write_all(&late.transaction).await.is_ok() {
                late.link.has_replied(late.replies).await;
            }
            codes.append(&mut late.link.codes.lock().unwrap());
        }
        codes
    }
}

/// What the two directions of a connection share.
#[derive(Debug)]
struct Link {
    nth: u64,
    client: tokio::sync::Mutex<OwnedWriteHalf>,
    /// Whether the client gets no answers any more.
    is_silent: AtomicBool,
    /// How many requests the server has replied to, and whether it has closed the connection.
    replies: watch::Sender<(u64, bool)>,
    /// The codes of the errors of a silent connection.
    codes: Mutex<Vec<String>>,
}

impl Link {
    /// Waits until the server has replied to so many requests, or is gone.
    async fn has_replied(&self, requests: u64) {
        let mut replies = self.replies.subscribe();
        let _ = replies
            .wait_for(|(replies, is_over)| *replies >= requests || *is_over)
            .await;
    }

    async fn close(&self) {
        self.is_silent.store(true, Ordering::SeqCst);
        let _ = self.client.lock().await.shutdown().await;
    }
}

fn relay(client: TcpStream, server: TcpStream, shared: &Arc<Shared>) {
    let _ = client.set_nodelay(true);
    let _ = server.set_nodelay(true);
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let link = Arc::new(Link {
        nth: shared.connections.fetch_add(1, Ordering::SeqCst),
        client: tokio::sync::Mutex::new(to_client),
        is_silent: AtomicBool::new(false),
        replies: watch::Sender::new((0, false)),
        codes: Mutex::default(),
    });
    let (down, counts) = (Arc::clone(&link), Arc::clone(shared));
    tokio::spawn(async move {
        let _ = replies(BufReader::new(from_server), &down, &counts.received).await;
        down.replies.send_modify(|(_, is_over)| *is_over = true);
        let _ = down.client.lock().await.shutdown().await;
    });
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        let _ = requests(BufReader::new(from_client), to_server, link, &shared).await;
    });
}

/// Passes on what the server sends.
async fn replies(
    mut server: BufReader<OwnedReadHalf>,
    link: &Link,
    received: &AtomicU64,
) -> io::Result<()> {
    loop {
        let message = message(&mut server).await?;
        received.fetch_add(message.len() as u64, Ordering::SeqCst);
        if !link.is_silent.load(Ordering::SeqCst) {
            // A client that is gone misses nothing.
            let _ = link.client.lock().await.write_all(&message).await;
        } else if message[0] == b'E' {
            let mut fields = message[5..].split(|byte| *byte == 0);
            if let Some(code) = fields.find(|field| field.first() == Some(&b'C')) {
                let code = String::from_utf8_lossy(&code[1..]).into_owned();
                link.codes.lock().unwrap().push(code);
            }
        }
        if message[0] == b'Z' {
            link.replies.send_modify(|(replies, _)| *replies += 1);
        }
    }
}

/// Passes on what the client sends, a transaction at a time.
async fn requests(
    mut client: BufReader<OwnedReadHalf>,
    mut server: OwnedWriteHalf,
    link: Arc<Link>,
    shared: &Shared,
) -> io::Result<()> {
    let start = rest_of(&mut client, Vec::new()).await?;
    server.write_all(&start).await?;
    let mut statements: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
    let mut transaction: Vec<u8> = Vec::new();
    // A statement outside of `BEGIN` and `COMMIT` is a transaction of its own.
    let mut is_single = false;
    let mut texts: Vec<Vec<u8>> = Vec::new();
    // The start has one reply, too.
    let mut requests: u64 = 1;
    loop {
        let message = message(&mut client).await?;
        if link.nth < shared.holes.load(Ordering::SeqCst) {
            link.is_silent.store(true, Ordering::SeqCst);
            continue;
        }
        let mut parts = message[5..].split(|byte| *byte == 0);
        let first = parts.next().unwrap_or_default().to_vec();
        match message[0] {
            b'P' => {
                let text = parts.next().unwrap_or_default().to_vec();
                statements.insert(first.clone(), text);
            }
            b'B' => {
                let name = parts.next().unwrap_or_default();
                texts.extend(statements.get(name).cloned());
            }
            b'Q' | b'S' => requests += 1,
            _ => {}
        }
        if transaction.is_empty() {
            is_single = message[0] == b'B';
            let is_begin = message[0] == b'Q' && first.starts_with(b"BEGIN");
            if !is_single && !is_begin {
                server.write_all(&message).await?;
                texts.clear();
                continue;
            }
        }
        transaction.extend(message.iter());
        let is_end = match message[0] {
            b'S' => is_single,
            b'Q' => first == b"COMMIT" || first == b"ROLLBACK",
            _ => false,
        };
        if !is_end {
            continue;
        }
        let texts = std::mem::take(&mut texts);
        let transaction = std::mem::take(&mut transaction);
        let cut = shared.next_cut(&texts);
        match cut {
            None => server.write_all(&transaction).await?,
            Some(Cut::BeforeTheSend) => {
                link.close().await;
                return Ok(());
            }
            Some(Cut::DeliveredLate) => {
                link.close().await;
                shared.late.lock().unwrap().push(Late {
                    transaction,
                    server,
                    link,
                    replies: requests,
                });
                return Ok(());
            }
            Some(Cut::AnswerLost) => {
                // The client may still get the replies to earlier requests, or not.
                link.is_silent.store(true, Ordering::SeqCst);
                server.write_all(&transaction).await?;
                link.has_replied(requests).await;
                link.close().await;
                return Ok(());
            }
            Some(Cut::BlackHole) => {
                let all = shared.connections.load(Ordering::SeqCst);
                shared.holes.store(all, Ordering::SeqCst);
                link.is_silent.store(true, Ordering::SeqCst);
            }
        }
    }
}

impl Shared {
    /// Returns the cut of a transaction with these statements.
    fn next_cut(&self, statements: &[Vec<u8>]) -> Option<Cut> {
        let mut armed = self.armed.lock().unwrap();
        let contains = |text: &str| {
            let mut windows = statements
                .iter()
                .flat_map(|statement| statement.windows(text.len()));
            windows.any(|window| window == text.as_bytes())
        };
        let nth = armed.iter().position(|(_, text)| contains(text))?;
        let (cut, _) = armed.remove(nth);
        *self.hits.lock().unwrap().entry(cut).or_default() += 1;
        Some(cut)
    }
}

/// Reads a message: type, length, text.
async fn message(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let kind = from.read_u8().await?;
    rest_of(from, vec![kind]).await
}

/// Reads the length of a message, which counts itself, and the text.
async fn rest_of(from: &mut (impl AsyncRead + Unpin), mut message: Vec<u8>) -> io::Result<Vec<u8>> {
    let length = from.read_u32().await?;
    message.extend(length.to_be_bytes());
    let mut text = vec![0; length as usize - 4];
    from.read_exact(&mut text).await?;
    message.append(&mut text);
    Ok(message)
}
