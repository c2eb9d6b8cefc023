//! What happened, in one order and with the time: the material of every invariant. Nothing is judged here.

use std::fmt;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use reattempt::overload::breaker::State;
use reattempt::{GiveUpReason, Verdict};

use crate::calls::Spec;
use crate::plan::{Fault, Side};

/// Since the start of the program.
pub(crate) type At = Duration;

/// Worker, call, and number of what a call makes below it; 0 where it is about no call. The plan alone decides it.
pub(crate) type Id = u64;

pub(crate) const fn id(worker: u64, number: u64) -> Id {
    worker << 40 | number << 16
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    pub(crate) at: At,
    pub(crate) call: Id,
    pub(crate) what: What,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum What {
    /// The call begins, and with it its deadlines.
    Began,
    /// The body of an attempt begins; a hedge has several of one number.
    Attempt {
        number: u32,
        copy: u32,
    },
    AttemptEnded {
        copy: u32,
        end: AttemptEnd,
    },
    Hook(Hook),
    HookEnded(Hook),
    Failed {
        attempt: u32,
    },
    Retry {
        attempt: u32,
        delay: Duration,
    },
    GaveUp {
        attempt: u32,
        reason: GiveUpReason,
    },
    Recovered {
        attempt: u32,
    },
    CallEnded(CallEnd),
    /// Turned away by a breaker that stands alone.
    Refused,
    Breaker {
        key: u16,
        to: State,
        cooldown: Option<Duration>,
    },
    /// The rate of the cubic throttle.
    Rate(Option<f64>),
    RetriesOn(bool),
    Reloaded,
    Fault(Side, Fault),
    /// Something was to run and did so only this much later.
    Stall(Duration),
    /// A thread has waited so long for a processor.
    Waited {
        thread: u32,
        long: Duration,
    },
    /// The server began to work at a request.
    Request {
        left: Option<Duration>,
    },
    /// The server has done something that cannot be undone.
    Effect {
        attempt: u32,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum AttemptEnd {
    Ok,
    NotFinal,
    Err(Verdict),
    Dropped,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum CallEnd {
    Ok,
    /// The reason that the caller got, where its error says so.
    Failed(Option<(GiveUpReason, u32)>),
    Dropped,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Hook {
    Verify,
    BeforeRetry,
    Fallback,
}

/// More than a run of a minute has, so that the log is of one size from the beginning.
const RECORDS: usize = 1 << 20;
const CALLS: usize = 1 << 17;

struct Log {
    start: Instant,
    records: Mutex<Vec<Record>>,
    calls: Mutex<Vec<(Id, Spec)>>,
}

static LOG: LazyLock<Log> = LazyLock::new(|| {
    let nothing = Record {
        at: Duration::ZERO,
        call: 0,
        what: What::Reloaded,
    };
    Log {
        start: Instant::now(),
        records: Mutex::new(touched(nothing, RECORDS)),
        calls: Mutex::new(touched((0, Spec::NOTHING), CALLS)),
    }
});

/// Empty, with all its memory in use already.
fn touched<T: Clone>(value: T, length: usize) -> Vec<T> {
    let mut list = vec![value; length];
    list.clear();
    list
}

fn lock<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn now() -> At {
    LOG.start.elapsed()
}

pub(crate) fn note(call: Id, what: What) {
    let mut records = lock(&LOG.records);
    // Under the lock, so that the order of the records is that of the times.
    let at = now();
    records.push(Record { at, call, what });
}

pub(crate) fn begin(id: Id, spec: &Spec) {
    lock(&LOG.calls).push((id, *spec));
}

/// All of it.
pub(crate) fn take() -> (Vec<Record>, Vec<(Id, Spec)>) {
    let records = std::mem::take(&mut *lock(&LOG.records));
    (records, std::mem::take(&mut *lock(&LOG.calls)))
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>10.4}s ", self.at.as_secs_f64())?;
        match self.call {
            0 => f.write_str("           "),
            call => write!(
                f,
                "{:>2}.{:<4}.{:<3}",
                call >> 40,
                call >> 16 & 0xff_ffff,
                call & 0xffff
            ),
        }?;
        write!(f, " {:?}", self.what)
    }
}
