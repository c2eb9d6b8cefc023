//! The service that steps call. It notes every call, and has one effect for each key.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reattempt_supervisor::Step;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// One call of a step.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) task: i64,
    pub(crate) what: String,
    pub(crate) key: String,
    pub(crate) fence: i64,
}

#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    pub(crate) address: SocketAddr,
    calls: Arc<Mutex<Vec<Call>>>,
    /// The number of effects, by key.
    effects: Arc<Mutex<HashMap<String, u32>>>,
    /// The calls that the service holds back until the test releases them, the first one first.
    holds: Arc<Mutex<Holds>>,
    /// The highest fence of each task, by which late calls are refused.
    fences: Arc<Mutex<HashMap<i64, i64>>>,
    refused: Arc<AtomicU32>,
    /// Draws which calls take long on their way.
    delays: Option<Arc<Mutex<StdRng>>>,
}

type Holds = VecDeque<(String, Arc<Hold>)>;

/// A call that the service holds back.
#[derive(Debug, Default)]
pub(crate) struct Hold {
    pub(crate) called: Notify,
    pub(crate) go: Notify,
}

impl Ledger {
    pub(crate) fn hold(&self, what: &str) -> Arc<Hold> {
        let hold = Arc::new(Hold::default());
        let next = (what.to_owned(), Arc::clone(&hold));
        self.holds.lock().unwrap().push_back(next);
        hold
    }

    pub(crate) async fn start() -> Self {
        Self::start_with(None).await
    }

    /// Starts a service at which some calls arrive late.
    #[cfg(feature = "postgres")]
    pub(crate) async fn start_slow(seed: u64) -> Self {
        Self::start_with(Some(seed)).await
    }

    /// Returns how many calls it has refused because of their fence.
    #[cfg(feature = "postgres")]
    pub(crate) fn refused(&self) -> u32 {
        self.refused.load(Ordering::SeqCst)
    }

    /// Returns how long a call is on its way.
    fn delay(&self) -> Duration {
        let Some(delays) = &self.delays else {
            return Duration::ZERO;
        };
        let mut chance = delays.lock().unwrap();
        if chance.random_bool(0.03) {
            Duration::from_millis(chance.random_range(500..4_000))
        } else {
            Duration::ZERO
        }
    }

    async fn start_with(seed: Option<u64>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let ledger = Self {
            address: listener.local_addr().unwrap(),
            calls: Arc::default(),
            effects: Arc::default(),
            holds: Arc::default(),
            fences: Arc::default(),
            refused: Arc::default(),
            delays: seed.map(|seed| Arc::new(Mutex::new(StdRng::seed_from_u64(seed)))),
        };
        let this = ledger.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(this.clone().serve(stream));
            }
        });
        ledger
    }

    async fn serve(self, stream: TcpStream) {
        let (reader, mut writer) = stream.into_split();
        let mut lines = BufReader::new(reader).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let mut words = line.split(' ');
            let mut next = || words.next().unwrap().to_owned();
            let call = Call {
                task: next().parse().unwrap(),
                what: next(),
                key: next(),
                fence: next().parse().unwrap(),
            };
            tokio::time::sleep(self.delay()).await;
            // A service that knows fences.
            let is_late = {
                let mut fences = self.fences.lock().unwrap();
                let highest = fences.entry(call.task).or_default();
                *highest = call.fence.max(*highest);
                call.fence < *highest
            };
            if is_late {
                self.refused.fetch_add(1, Ordering::SeqCst);
                let _ = writer.write_all(b"another worker was here\n").await;
                return;
            }
            // A service that knows idempotency keys.
            self.effects
                .lock()
                .unwrap()
                .entry(call.key.clone())
                .or_insert(1);
            let held = {
                let mut holds = self.holds.lock().unwrap();
                let is_held = holds.front().is_some_and(|(what, _)| *what == call.what);
                if is_held { holds.pop_front() } else { None }
            };
            self.calls.lock().unwrap().push(call);
            if let Some((_, held)) = held {
                held.called.notify_one();
                held.go.notified().await;
            }
            if writer.write_all(b"done\n").await.is_err() {
                return;
            }
        }
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }
}

/// The client that steps use.
#[derive(Debug)]
pub(crate) struct LedgerClient(pub SocketAddr);

impl LedgerClient {
    pub(crate) async fn call(&self, step: &Step, what: &str, order: u32) -> Result<u32, String> {
        let line = format!("{} {what} {} {}\n", step.task(), step.key(), step.fence().0);
        let ask = async {
            let mut stream = TcpStream::connect(self.0).await?;
            stream.write_all(line.as_bytes()).await?;
            let mut answer = String::new();
            BufReader::new(stream).read_line(&mut answer).await?;
            Ok::<_, std::io::Error>(answer)
        };
        match ask.await {
            Ok(answer) if answer == "done\n" => Ok(order),
            Ok(answer) => Err(format!("the ledger said {answer:?}")),
            Err(error) => Err(error.to_string()),
        }
    }
}
