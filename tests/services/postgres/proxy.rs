//! Stands between a client and PostgreSQL, and breaks the connection at a commit.

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::{AssertSqlSafe, Executor as _, PgPool};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A message: type, length, text.
const COMMIT: &[u8] = b"Q\0\0\0\x0bCOMMIT\0";
const BACKEND_KEY: u8 = b'K';
const READY: u8 = b'Z';

/// What happens at a `COMMIT`. The client never gets the server's answer to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strike {
    /// It comes to a backend that has been killed.
    Before,
    /// It takes effect, then the backend is killed.
    After,
    /// It comes to a backend that is being killed, and the client does not wait for the outcome.
    During,
    /// It comes, but not before the client has lost its connection.
    Unheard,
}

#[derive(Debug, Clone)]
pub(super) struct Proxy {
    pub(super) port: u16,
    strike: Arc<Mutex<Option<Strike>>>,
}

impl Proxy {
    /// In front of the server at `port`, to which `killer` has a way of its own.
    pub(super) async fn start(port: u16, killer: PgPool) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let proxy = Self {
            port: listener.local_addr().unwrap().port(),
            strike: Arc::default(),
        };
        let strike = Arc::clone(&proxy.strike);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await;
                let session = Session {
                    client: buffered(client),
                    server: buffered(server.unwrap()),
                    backend: 0,
                };
                tokio::spawn(session.run(Arc::clone(&strike), killer.clone()));
            }
        });
        proxy
    }

    /// At the next commit, and at that one alone.
    pub(super) fn strike(&self, strike: Strike) {
        *self.strike.lock().unwrap() = Some(strike);
    }
}

fn buffered(socket: TcpStream) -> BufReader<TcpStream> {
    socket.set_nodelay(true).unwrap();
    BufReader::new(socket)
}

/// One connection. Client and server take turns, so it never listens to both.
struct Session {
    client: BufReader<TcpStream>,
    server: BufReader<TcpStream>,
    backend: i32,
}

impl Session {
    /// Until one of the two goes away, or the strike.
    async fn run(mut self, strike: Arc<Mutex<Option<Strike>>>, killer: PgPool) -> io::Result<()> {
        let start = rest_of(&mut self.client, Vec::new()).await?;
        self.server.write_all(&start).await?;
        self.relay().await?;
        loop {
            let question = message(&mut self.client).await?;
            if question == COMMIT {
                let strike = strike.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(strike) = strike {
                    return self.struck(strike, killer).await;
                }
            }
            self.server.write_all(&question).await?;
            // A query, or the end of a series of messages.
            if matches!(question[0], b'Q' | b'S') {
                self.relay().await?;
            }
        }
    }

    /// What the server says, until it is ready for more.
    async fn relay(&mut self) -> io::Result<()> {
        loop {
            let answer = message(&mut self.server).await?;
            self.client.write_all(&answer).await?;
            match answer[0] {
                BACKEND_KEY => self.backend = (&answer[5..9]).read_i32().await?,
                READY => return Ok(()),
                _ => (),
            }
        }
    }

    async fn struck(mut self, strike: Strike, killer: PgPool) -> io::Result<()> {
        let kill = AssertSqlSafe(format!("SELECT pg_terminate_backend({})", self.backend));
        let mut killer = killer.acquire().await.unwrap();
        match strike {
            Strike::Before => {
                killer.execute(kill).await.unwrap();
                // Its last words, up to the end of it.
                self.relay().await?;
            }
            Strike::After => {
                self.server.write_all(COMMIT).await?;
                while message(&mut self.server).await?[0] != READY {}
                killer.execute(kill).await.unwrap();
            }
            Strike::During => {
                drop(self.client);
                let (reported, sent) =
                    tokio::join!(killer.execute(kill), self.server.write_all(COMMIT));
                reported.unwrap();
                sent?;
            }
            Strike::Unheard => {
                drop(self.client);
                self.server.write_all(COMMIT).await?;
            }
        }
        Ok(())
    }
}

async fn message(from: &mut BufReader<TcpStream>) -> io::Result<Vec<u8>> {
    let kind = from.read_u8().await?;
    rest_of(from, vec![kind]).await
}

/// The length, which counts itself, and the text.
async fn rest_of(from: &mut BufReader<TcpStream>, mut message: Vec<u8>) -> io::Result<Vec<u8>> {
    let length = from.read_u32().await?;
    message.extend(length.to_be_bytes());
    let mut text = vec![0; length as usize - 4];
    from.read_exact(&mut text).await?;
    message.append(&mut text);
    Ok(message)
}
