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
    if reattempt::retry_block!(
    max = 3,
    backoff = "fixed",
    base = "2ms",
    jitter = "none",
    until = |is_so| *is_so,
    {
        server.is_ready()
    },
) {
            return true;
        }
    false
}

/// Errors that `?` converts, turns without an end, and a power as delay.
pub fn question(server: &Server) -> Result<u8, Wider> {
    return reattempt::retry_block!(
    max = 3,
    base = "2ms",
    on = |error| !matches!(error, Fault::Gone),
    {
        server.ask()
    },
).map_err(Into::into);
    unreachable!()
}

/// An arm for the error that ends it.
pub fn guard(server: &Server) -> Result<u8, Error> {
    let mut attempt = 0;
    return reattempt::retry_block!(
    max = 4,
    backoff = "fixed",
    base = "2ms",
    jitter = "none",
    on = |error| error.kind() != ErrorKind::NotFound,
    on_retry = |retry| if let Some(error) = retry.error() { let attempt = retry.attempt(); warn!(server, "attempt {attempt}: {}", error.kind()); },
    {
        server.open()
    },
)
}

/// An arm for the one pattern that is waited for.
pub async fn pattern(server: &Server) -> Result<u8, Fault> {
    return reattempt::retry_block!(
    max = "unlimited",
    jitter = "none",
    on(Fault::Busy { .. }),
    retry_after = |error| match error { Fault::Busy { wait } => Some(*wait), _ => None },
    async {
        server.ask_later().await
    },
).await
}

/// A condition in the arm, with the count beside it.
pub async fn condition(server: &Server) -> Result<u8, Fault> {
    let mut tries = 0;
    reattempt::retry_block!(
    max = 4,
    backoff = "fixed",
    base = "5ms",
    jitter = "none",
    on = |fault| !fault.is_final(),
    on_retry = |_| warn!(server, "again"),
    async {
        server.ask_later().await
    },
).await
}

/// A pattern whose parts a guard compares.
pub fn parts(server: &Server) -> Result<u8, Fault> {
    let mut retries = 0;
    return reattempt::retry_block!(
    max = 4,
    backoff = "fixed",
    base = "3ms",
    jitter = "none",
    on(Fault::Status(code) if *code >= 500),
    {
        server.ask()
    },
)
}

/// Another match on the error.
pub fn nested(server: &Server) -> Result<u8, Fault> {
    let mut tries = 0;
    return reattempt::retry_block!(
    max = 5,
    backoff = "fixed",
    base = "3ms",
    jitter = "none",
    on(Fault::Busy { .. } | Fault::Status(503)),
    on_retry = |retry| { let tries = retry.attempt(); warn!(server, "try {} failed", tries); },
    {
        server.ask()
    },
)
}

/// What the error asks for, if it asks.
pub fn asked(server: &Server) -> Result<u8, Wider> {
    let pause = Duration::from_millis(8);
    let mut attempts = 0;
    return reattempt::retry_block!(
    max = 3,
    backoff = "fixed",
    base = "8ms",
    jitter = "none",
    on(_),
    retry_after = |fault| fault.after(),
    {
        server.ask()
    },
).map_err(Into::into)
}

/// What is done with each result before it is asked, and a delay that is awaited.
pub async fn between(server: &Server) -> Result<u8, Fault> {
    let mut attempts = 0;
    return reattempt::retry_block!(
    max = 4,
    backoff = "fixed",
    base = "7ms",
    jitter = "none",
    on = |fault| !fault.is_final(),
    on_retry = |retry| if let Some(fault) = retry.error() { #[cfg(not(any()))] warn!(server, "{fault:?}"); },
    async {
        let result = server.ask();
        server.lines.borrow_mut().push(format!("{result:?}"));
        result
    },
).await
}

/// A line for each kind of error.
pub fn logged_apart(server: &Server) -> Result<u8, Fault> {
    let mut tries = 0;
    return reattempt::retry_block!(
    max = 4,
    backoff = "fixed",
    base = "2ms",
    jitter = "none",
    on(_),
    on_retry = |retry| { if let Some(Fault::Status(code)) = retry.error() { if *code != 500 { warn!(server, "status {code}"); }; }; if let Some(fault) = retry.error().filter(|&error| !matches!(error, Fault::Status(code) if *code != 500)) { if fault.is_final() { warn!(server, "final"); }; }; if let Some(fault) = retry.error().filter(|&error| !matches!(error, Fault::Status(code) if *code != 500)) { if !fault.is_final() { warn!(server, "{fault:?}"); }; }; },
    {
        server.ask()
    },
)
}

/// A limit of time.
pub fn timed(server: &Server) -> Result<u8, Fault> {
    let start = Instant::now();
    return reattempt::retry_block!(
    max = "unlimited",
    backoff = "fixed",
    base = "700ms",
    jitter = "none",
    deadline = "5s",
    cut_off = false,
    on = |error| !matches!(error, Fault::Gone),
    {
        server.ask()
    },
)
}

/// Nothing fails here; it waits for a while.
pub fn polled(server: &Server) -> bool {
    let start = Instant::now();
    if reattempt::retry_block!(
    max = "unlimited",
    backoff = "fixed",
    base = "1s",
    jitter = "none",
    deadline = "60s",
    cut_off = false,
    until = |is_so| *is_so,
    {
        server.is_ready()
    },
) {
            return true;
        }
    false
}
