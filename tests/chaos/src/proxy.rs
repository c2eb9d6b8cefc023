//! A TCP proxy that misbehaves as planned, each connection in its own way.

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use crate::plan::Fault;
use crate::random::Random;

#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) port: u16,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    to: u16,
    seed: u64,
    fault: Mutex<Fault>,
    connections: AtomicU64,
}

/// The connection ends with a reset.
struct Reset;

impl Proxy {
    /// In front of the port `to`.
    pub(crate) async fn begin(to: u16, seed: u64) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            to,
            seed,
            fault: Mutex::new(Fault::None),
            connections: AtomicU64::new(0),
        });
        let own = Arc::clone(&state);
        tokio::spawn(async move {
            loop {
                if let Ok((client, _)) = listener.accept().await {
                    tokio::spawn(Arc::clone(&own).serve(client));
                }
            }
        });
        Self { port, state }
    }

    pub(crate) fn set(&self, fault: Fault) {
        *self
            .state
            .fault
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = fault;
    }

    /// The connections that there are.
    pub(crate) fn connections(&self) -> u64 {
        self.state.connections.load(Ordering::SeqCst) & 0xffff
    }
}

impl State {
    fn fault(&self) -> Fault {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn serve(self: Arc<Self>, client: TcpStream) {
        // How many there have been, and how many there are.
        let number = self.connections.fetch_add((1 << 16) + 1, Ordering::SeqCst) >> 16;
        let random = Random::of(self.seed, &[number]);
        self.relay(client, random).await;
        self.connections.fetch_sub(1, Ordering::SeqCst);
    }

    async fn relay(&self, mut client: TcpStream, mut random: Random) {
        let is_refused = match self.fault() {
            Fault::Refusing(percent) => random.chance(percent),
            Fault::Silent(percent) if random.chance(percent) => {
                self.freeze(&mut random).await;
                true
            }
            _ => false,
        };
        let server = if is_refused {
            None
        } else {
            TcpStream::connect((Ipv4Addr::LOCALHOST, self.to))
                .await
                .ok()
        };
        let Some(mut server) = server else {
            let _ = client.set_zero_linger();
            return;
        };
        let _ = (client.set_nodelay(true), server.set_nodelay(true));
        let frozen = AtomicBool::new(false);
        let ended = {
            let (from_client, to_client) = client.split();
            let (from_server, to_server) = server.split();
            let up = self.pump(from_client, to_server, random, &frozen);
            let down = self.pump(
                from_server,
                to_client,
                Random::of(random.next(), &[]),
                &frozen,
            );
            tokio::try_join!(up, down)
        };
        if ended.is_err() {
            let _ = (client.set_zero_linger(), server.set_zero_linger());
        }
    }

    /// One way, until it ends.
    async fn pump(
        &self,
        mut from: ReadHalf<'_>,
        mut to: WriteHalf<'_>,
        mut random: Random,
        frozen: &AtomicBool,
    ) -> Result<(), Reset> {
        let mut piece = [0; 2048];
        loop {
            let length = from.read(&mut piece).await.map_err(|_| Reset)?;
            if frozen.load(Ordering::SeqCst) {
                // The other way ends the connection.
                return std::future::pending().await;
            }
            if length == 0 {
                return to.shutdown().await.map_err(|_| Reset);
            }
            let mut rest = &piece[..length];
            match self.fault() {
                Fault::Latency(most) => sleep(random.millis(0, most)).await,
                Fault::Reset(percent) if random.chance(percent) => {
                    let _ = to.write_all(&rest[..rest.len() / 2]).await;
                    return Err(Reset);
                }
                Fault::HalfOpen(percent) if random.chance(percent) => {
                    frozen.store(true, Ordering::SeqCst);
                    self.freeze(&mut random).await;
                    return Err(Reset);
                }
                Fault::Slow(bytes) => {
                    while rest.len() > bytes as usize {
                        let (now, later) = rest.split_at(bytes as usize);
                        to.write_all(now).await.map_err(|_| Reset)?;
                        sleep(Duration::from_millis(1)).await;
                        rest = later;
                    }
                }
                _ => (),
            }
            to.write_all(rest).await.map_err(|_| Reset)?;
        }
    }

    /// Nothing happens for a while, at most until the storm is over.
    async fn freeze(&self, random: &mut Random) {
        const STEP: Duration = Duration::from_millis(50);
        for _ in 0..random.range(4, 50) {
            sleep(STEP).await;
        }
    }
}
