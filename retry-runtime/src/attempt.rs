//! What the body and the hooks of a retried operation see.

use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;

use crate::duration::Human;
use crate::timer::{Clock, Timestamp};
use crate::verdict::Verdict;
use reattempt_core::name::Name;

/// The running attempt, which `context = name` binds in the body. It borrows from the call, so it
/// cannot outlive the call; [`idempotency_key`](Self::idempotency_key) and the numbers can.
///
/// It is shown as its [`number`](Self::number), and compares with one.
///
/// # Examples
///
/// ```
/// # use reattempt::retry;
/// #[retry(max = 3, base = "1ms", on(_), context = attempt)]
/// fn fetch() -> Result<String, String> {
///     if attempt < 3 { Err(String::new()) } else { Ok(format!("attempt {attempt}")) }
/// }
/// assert_eq!(fetch()?, "attempt 3");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    pub(crate) number: u32,
    pub(crate) at: Timestamp,
    pub(crate) remaining: Option<Duration>,
    pub(crate) started: &'a Started,
}

impl Attempt<'_> {
    /// Returns the number of this attempt, from 1.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// Returns whether an attempt came before this one.
    pub const fn is_retry(&self) -> bool {
        self.number > 1
    }

    /// Time from the start of the call to the start of this attempt.
    pub const fn elapsed(&self) -> Duration {
        self.at.since(self.started.at)
    }

    /// Time that was left until the deadline when this attempt started; `None`
    /// without a deadline.
    pub const fn remaining(&self) -> Option<Duration> {
        self.remaining
    }

    /// Says that this attempt has moved the work on: a part of a download is there, a page of a log is applied. If the attempt
    /// fails, the count, the delays and what calls inside have given up start anew, with this failure as the first, and the
    /// retries before count as such that have helped. To say it twice in an attempt changes nothing.
    ///
    /// A service that ends each attempt after its first step is called without end. So the policy needs a `deadline`, a
    /// `budget`, or a first delay of at least 1 s ([rule X6](https://reattempt.github.io/reattempt/errors.html#x6)). Where the
    /// compiler does not know it, a policy without one of them counts on, which is reported as an invalid policy.
    ///
    /// # Examples
    ///
    /// ```
    /// # use reattempt::retry;
    /// # use std::io;
    /// # struct File(Vec<u8>);
    /// # impl File { fn part(&self, from: usize) -> io::Result<Vec<u8>> { Ok(vec![0; 10 - from]) } }
    /// #[retry(max = 5, deadline = "1h", context = attempt)]
    /// fn download(file: &File, to: &mut Vec<u8>) -> io::Result<()> {
    ///     while to.len() < 10 {
    ///         to.extend(file.part(to.len())?);
    ///         attempt.progress();
    ///     }
    ///     Ok(())
    /// }
    /// # let mut to = vec![];
    /// # download(&File(vec![]), &mut to)?;
    /// # assert_eq!(to.len(), 10);
    /// # Ok::<(), io::Error>(())
    /// ```
    pub fn progress(&self) {
        self.started.progress.store(true, Ordering::Relaxed);
    }

    /// Returns a key that is the same for every attempt of one call and different for every call,
    /// in this process, in its forks and in every other. A service distinguishes a second attempt
    /// from a second request by it, in a header or a column.
    ///
    /// The first use in a call draws the key. Its 16 bytes come from the operating system, even if
    /// the call's timer has random numbers of its own. Below `testing::seed` they come from the
    /// seed.
    ///
    /// Without the feature `std` nothing is known to be unique, and this method does not exist: make a key before the call,
    /// from a source that you trust, and let the body send it.
    ///
    /// # Panics
    ///
    /// Where the operating system has no random numbers, as `HashMap::new` does.
    #[cfg(feature = "std")]
    pub fn idempotency_key(&self) -> crate::IdempotencyKey {
        let unique = || reattempt_core::random::unique().to_be_bytes();
        let key = self.started.key.get_or_init(unique);
        crate::IdempotencyKey::from_bits(u128::from_be_bytes(*key))
    }
}

impl fmt::Display for Attempt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number.fmt(f)
    }
}

impl PartialEq<u32> for Attempt<'_> {
    fn eq(&self, number: &u32) -> bool {
        self.number == *number
    }
}

impl PartialOrd<u32> for Attempt<'_> {
    fn partial_cmp(&self, number: &u32) -> Option<core::cmp::Ordering> {
        self.number.partial_cmp(number)
    }
}

/// What `context` needs from the start of the call on.
#[derive(Debug)]
pub struct Started {
    pub(crate) at: Timestamp,
    /// Whether the attempt that runs has moved on.
    progress: AtomicBool,
    /// The key, once it was asked for.
    #[cfg(feature = "std")]
    key: std::sync::OnceLock<[u8; 16]>,
}

impl Started {
    /// Returns the start of a call that begins now.
    pub fn now(clock: &impl Clock) -> Self {
        Self {
            at: clock.now(),
            progress: AtomicBool::new(false),
            #[cfg(feature = "std")]
            key: std::sync::OnceLock::new(),
        }
    }

    /// Returns whether the attempt that has ended had moved on, and forgets it.
    pub(crate) fn take_progress(&self) -> bool {
        let has_moved_on = self.progress.load(Ordering::Relaxed);
        self.progress.store(false, Ordering::Relaxed);
        has_moved_on
    }
}

/// Why an attempt did not end the call.
#[derive(Debug)]
#[non_exhaustive]
pub enum Cause<'a, E: ?Sized> {
    /// It failed with this error.
    Error(&'a E),
    /// It succeeded with a value that `until` does not accept.
    NotFinal,
    /// It took longer than `timeout`, and was dropped.
    TimedOut,
}

impl<E: ?Sized> Clone for Cause<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: ?Sized> Copy for Cause<'_, E> {}

/// Returns the verdict on what an attempt came to; a value that is not final yet is asked for again.
#[inline(always)]
pub fn verdict<E: ?Sized>(cause: Cause<'_, E>, judge: impl FnOnce(&E) -> Verdict) -> Verdict {
    match cause {
        Cause::Error(error) => judge(error),
        // There was an answer, so nothing about it is ambiguous.
        Cause::NotFinal => Verdict::Refused,
        // There is no error to judge, and what was begun may have been executed.
        Cause::TimedOut => Verdict::Transient,
    }
}

impl<'a, E: ?Sized> From<&'a E> for Cause<'a, E> {
    #[inline(always)]
    fn from(error: &'a E) -> Self {
        Self::Error(error)
    }
}

impl<E: fmt::Display + ?Sized> fmt::Display for Cause<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => error.fmt(f),
            Self::NotFinal => f.write_str("the value is not final yet"),
            Self::TimedOut => f.write_str("the attempt timed out"),
        }
    }
}

/// A retry that is about to happen; `on_retry` and `before_retry` receive it.
#[derive(Debug)]
pub struct Retry<'a, E: ?Sized> {
    pub(crate) operation: Name,
    pub(crate) max: Option<u32>,
    pub(crate) attempt: u32,
    pub(crate) delay: Duration,
    pub(crate) cause: Cause<'a, E>,
}

impl<'a, E: ?Sized> Retry<'a, E> {
    /// Returns the name of the operation.
    pub fn operation(&self) -> &'static str {
        self.operation.as_str()
    }

    /// Returns the number of the attempt that failed, from 1.
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns the attempts that the policy allows in total; `None` without a limit.
    pub const fn max(&self) -> Option<u32> {
        self.max
    }

    /// Returns the delay before the next attempt.
    pub const fn delay(&self) -> Duration {
        self.delay
    }

    /// Returns the error of the failed attempt; `None` when it timed out, or succeeded with a value
    /// that `until` does not accept.
    pub const fn error(&self) -> Option<&'a E> {
        match self.cause {
            Cause::Error(error) => Some(error),
            Cause::NotFinal | Cause::TimedOut => None,
        }
    }

    /// Returns the cause of the retry; its `Display` is the one of the error.
    pub const fn cause(&self) -> Cause<'a, E> {
        self.cause
    }
}

/// `attempt 1 of 3: connection reset; again in 52.3 ms`: the line that most programs log.
impl<E: fmt::Display + ?Sized> fmt::Display for Retry<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "attempt {}", self.attempt)?;
        if let Some(max) = self.max {
            write!(f, " of {max}")?;
        }
        write!(f, ": {}; again in {}", self.cause, Human(self.delay))
    }
}
