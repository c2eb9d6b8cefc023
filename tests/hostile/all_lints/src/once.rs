//! Operations that must not run twice, errors that classify themselves, a
//! policy on an `impl` block.

use core::time::Duration;
use std::io;

use reattempt::{Classify, Verified, retry};

use crate::support::Fault;

/// Every kind of variant.
#[derive(Debug, Classify)]
#[non_exhaustive]
pub enum Known {
    /// With a delay.
    #[retry(throttled, after = wait)]
    Busy {
        /// How long.
        wait: Duration,
        /// Where.
        path: String,
    },
    /// With another error in it.
    #[retry(inherit)]
    Io(io::Error),
    /// With a delay that may be left out.
    #[retry(throttled, after = 1)]
    Later(u8, Option<Duration>),
    /// Perhaps done, and to be asked for later.
    #[retry(transient, after = wait)]
    Lost {
        /// How long.
        wait: Duration,
    },
    /// Never again.
    #[retry(forbidden)]
    Never,
    /// Not sent.
    #[retry(refused)]
    NotSent,
    /// Not sent, with a delay that may be left out.
    #[retry(refused, after = 0)]
    NotSentLater(Option<Duration>),
    /// Perhaps done.
    #[retry(transient)]
    Reset,
    /// By its code.
    #[retry(with = |code: &u16| *code == 503)]
    Status(u16),
    /// Not worth it.
    #[retry(permanent)]
    Wrong,
}

/// One verdict for everything.
#[derive(Debug, Clone, Copy, Default, Classify)]
#[retry(transient)]
#[non_exhaustive]
pub struct Lost;

/// With generics and a default.
#[derive(Debug, Classify)]
#[retry(default = permanent)]
#[non_exhaustive]
pub enum Mostly<'text, E, const N: usize> {
    /// By default.
    Bytes([u8; N]),
    /// By default.
    Text(&'text str),
    /// With another error in it.
    #[retry(inherit)]
    Wrapped(E),
}

/// What proves that nothing was executed.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(max = 2, idempotent = false)]
pub fn unverified(value: u32) -> Result<u32, Known> {
    if value > 3 {
        Ok(value)
    } else {
        Err(Known::NotSent)
    }
}

/// Whether it was executed after all.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(max = 2, idempotent = false, verify = |error: &Known| matches!(*error, Known::Reset).then_some(value))]
pub fn verified(value: u32) -> Result<u32, Known> {
    if value > 3 {
        Ok(value)
    } else {
        Err(Known::Reset)
    }
}

/// Whether it was executed after all, async, with a fallback.
///
/// # Errors
///
/// For the lints.
#[inline]
#[retry(max = 2, idempotent = false, verify = async |_| found(value).await, fallback = |_| 7)]
pub async fn verified_later(value: u32) -> Result<u32, Known> {
    core::future::ready(()).await;
    if value > 3 {
        Ok(value)
    } else {
        Err(Known::Reset)
    }
}

async fn found(value: u32) -> Verified<u32> {
    core::future::ready(Verified::Done(value)).await
}

/// Something with a state.
#[derive(Debug, Clone, Copy, Default)]
pub struct Service {
    calls: u32,
}

#[retry(max = 2, base = "1ms", on(_))]
impl Service {
    /// Left alone.
    #[must_use]
    #[inline]
    pub const fn new() -> Self {
        Self { calls: 0 }
    }

    /// By its policy.
    ///
    /// # Errors
    ///
    /// For the lints.
    #[inline]
    pub fn calls(&mut self) -> Result<u32, Fault> {
        self.calls = self.calls.wrapping_add(1);
        if self.calls > 3 {
            Ok(self.calls)
        } else {
            Err(Fault::Busy)
        }
    }

    /// By its own.
    ///
    /// # Errors
    ///
    /// For the lints.
    #[inline]
    #[retry(max = 3, deadline = "3s", on(_))]
    pub async fn later(&mut self) -> Result<u32, Fault> {
        core::future::ready(()).await;
        self.calls = self.calls.wrapping_add(1);
        if self.calls > 3 {
            Ok(self.calls)
        } else {
            Err(Fault::Busy)
        }
    }

    /// By none.
    ///
    /// # Errors
    ///
    /// For the lints.
    #[inline]
    #[retry(never)]
    pub fn once(&self) -> Result<u32, Fault> {
        let mut other = *self;
        other.calls()
    }
}
