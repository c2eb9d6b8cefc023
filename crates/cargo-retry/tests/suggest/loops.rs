//! Loops by hand that tell errors apart, log and wait. `loops_after.rs` is this file with every suggestion in its place.

use std::cell::{Cell, RefCell};
use std::io::{Error, ErrorKind};
use std::time::{Duration, Instant};

#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    Busy { wait: Duration },
    Status(u16),
    Gone,
}

#[derive(Debug)]
pub struct Wider(pub Fault);

impl From<Fault> for Wider {
    fn from(fault: Fault) -> Self {
        Self(fault)
    }
}

impl Fault {
    fn is_final(&self) -> bool {
        *self == Self::Gone
    }

    fn after(&self) -> Option<Duration> {
        match self {
            Self::Busy { wait } => Some(*wait),
            _ => None,
        }
    }
}

/// What the server answers, from the last to the first; then always the first.
#[derive(Default)]
pub struct Server {
    pub answers: RefCell<Vec<Fault>>,
    pub calls: Cell<u32>,
    pub lines: RefCell<Vec<String>>,
}

impl Server {
    pub fn ask(&self) -> Result<u8, Fault> {
        self.calls.set(self.calls.get() + 1);
        let mut answers = self.answers.borrow_mut();
        match answers.pop() {
            Some(fault) => Err(fault),
            None => Ok(7),
        }
    }

    pub async fn ask_later(&self) -> Result<u8, Fault> {
        self.ask()
    }

    fn open(&self) -> Result<u8, Error> {
        self.ask().map_err(|fault| match fault {
            Fault::Gone => ErrorKind::NotFound.into(),
            _ => ErrorKind::TimedOut.into(),
        })
    }

    fn is_ready(&self) -> bool {
        self.ask().is_ok()
    }
}

macro_rules! warn {
    ($server:ident, $($line:tt)*) => { $server.lines.borrow_mut().push(format!($($line)*)) };
}

/// A number of turns, and no error.
pub fn counted(server: &Server) -> bool {
    for _ in 0..3 {
        if server.is_ready() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    false
}

/// Errors that `?` converts, turns without an end, and a power as delay.
pub fn question(server: &Server) -> Result<u8, Wider> {
    for attempt in 1.. {
        match server.ask() {
            Ok(it) => return Ok(it),
            Err(Fault::Gone) => Err(Fault::Gone)?,
            Err(error) if attempt > 2 => return Err(error)?,
            Err(_) => std::thread::sleep(Duration::from_millis(1 << attempt)),
        }
    }
    unreachable!()
}

/// An arm for the error that ends it.
pub fn guard(server: &Server) -> Result<u8, Error> {
    let mut attempt = 0;
    loop {
        match server.open() {
            Ok(it) => return Ok(it),
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(error),
            Err(error) => {
                attempt += 1;
                if attempt >= 4 {
                    return Err(error);
                }
                warn!(server, "attempt {attempt}: {}", error.kind());
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }
}

/// An arm for the one pattern that is waited for.
pub async fn pattern(server: &Server) -> Result<u8, Fault> {
    loop {
        match server.ask_later().await {
            Err(Fault::Busy { wait }) => tokio::time::sleep(wait).await,
            other => return other,
        }
    }
}

/// A condition in the arm, with the count beside it.
pub async fn condition(server: &Server) -> Result<u8, Fault> {
    let mut tries = 0;
    loop {
        match server.ask_later().await {
            Ok(it) => break Ok(it),
            Err(fault) => {
                tries += 1;
                if tries > 3 || fault.is_final() {
                    break Err(fault);
                }
                warn!(server, "again");
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    }
}

/// A pattern whose parts a guard compares.
pub fn parts(server: &Server) -> Result<u8, Fault> {
    let mut retries = 0;
    loop {
        match server.ask() {
            Ok(it) => return Ok(it),
            Err(Fault::Status(code)) if code >= 500 && retries < 3 => {
                retries += 1;
                std::thread::sleep(Duration::from_millis(3));
            }
            Err(fault) => return Err(fault),
        }
    }
}

/// Another match on the error.
pub fn nested(server: &Server) -> Result<u8, Fault> {
    let mut tries = 0;
    loop {
        tries += 1;
        match server.ask() {
            Ok(it) => return Ok(it),
            Err(fault) => match fault {
                Fault::Busy { .. } | Fault::Status(503) if tries < 5 => {
                    warn!(server, "try {} failed", tries);
                }
                other => return Err(other),
            },
        }
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// What the error asks for, if it asks.
pub fn asked(server: &Server) -> Result<u8, Wider> {
    let pause = Duration::from_millis(8);
    let mut attempts = 0;
    loop {
        match server.ask() {
            Ok(it) => return Ok(it),
            Err(fault) => {
                attempts += 1;
                if attempts == 3 {
                    return Err(fault.into());
                }
                if let Some(wait) = fault.after() {
                    std::thread::sleep(wait);
                } else {
                    std::thread::sleep(pause);
                }
            }
        }
    }
}

/// What is done with each result before it is asked, and a delay that is awaited.
pub async fn between(server: &Server) -> Result<u8, Fault> {
    let mut attempts = 0;
    loop {
        let result = server.ask();
        server.lines.borrow_mut().push(format!("{result:?}"));
        match result {
            Ok(it) => return Ok(it),
            Err(fault) if attempts >= 3 || fault.is_final() => return Err(fault),
            Err(fault) => {
                attempts += 1;
                #[cfg(not(any()))]
                warn!(server, "{fault:?}");
                tokio::time::sleep(Duration::from_millis(7)).await;
            }
        }
    }
}

/// A line for each kind of error.
pub fn logged_apart(server: &Server) -> Result<u8, Fault> {
    let mut tries = 0;
    loop {
        match server.ask() {
            Ok(it) => return Ok(it),
            Err(fault) if tries >= 3 => return Err(fault),
            Err(Fault::Status(code)) if code != 500 => {
                tries += 1;
                warn!(server, "status {code}");
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(fault) => {
                tries += 1;
                if fault.is_final() {
                    warn!(server, "final");
                } else {
                    warn!(server, "{fault:?}");
                }
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }
}

/// A limit of time.
pub fn timed(server: &Server) -> Result<u8, Fault> {
    let start = Instant::now();
    loop {
        match server.ask() {
            Ok(it) => return Ok(it),
            Err(Fault::Gone) => return Err(Fault::Gone),
            Err(fault) if start.elapsed() > Duration::from_secs(5) => return Err(fault),
            Err(_) => std::thread::sleep(Duration::from_millis(700)),
        }
    }
}

/// Nothing fails here; it waits for a while.
pub fn polled(server: &Server) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(60) {
        if server.is_ready() {
            return true;
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    false
}
