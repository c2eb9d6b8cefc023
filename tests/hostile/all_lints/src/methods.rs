//! Methods and traits.

use std::sync::Arc;

use reattempt::{Policy, retry};

use crate::support::{Fault, POLICY, is_busy};

/// Something with a state.
#[derive(Debug, Clone, Copy, Default)]
pub struct Service {
    calls: u32,
}

impl Service {
    const OWN: Policy = POLICY.max(2);
    const TRIES: u32 = 2;

    /// By unique reference.
    ///
    /// # Errors
    ///
    /// For the lints.
    #[inline]
    #[retry(max = Self::TRIES, on(_), before_retry = |_| {})]
    pub fn exclusive(&mut self) -> Result<u32, Fault> {
        self.calls = self.calls.wrapping_add(1);
        if self.calls > 3 {
            Ok(self.calls)
        } else {
            Err(Fault::Busy)
        }
    }

    /// By shared reference.
    ///
    /// # Errors
    ///
    /// For the lints.
    #[inline]
    #[retry(policy = Self::OWN, on = is_busy)]
    pub fn shared(&self) -> Result<u32, Fault> {
        if self.calls > 3 {
            Ok(self.calls)
        } else {
            Err(Fault::Busy)
        }
    }

    /// By counted reference.
    ///
    /// # Errors
    ///
    /// For the lints.
    #[inline]
    #[retry(max = 2, on(Fault::Busy))]
    pub fn counted(self: Arc<Self>) -> Result<u32, Fault> {
        if self.calls > 3 {
            Ok(self.calls)
        } else {
            Err(Fault::Busy)
        }
    }

    /// By unique reference, async.
    ///
    /// # Errors
    ///
    /// For the lints.
    #[inline]
    #[retry(policy = Self::OWN, deadline = "30s", context = attempt)]
    pub async fn asynchronous(&mut self) -> Result<u32, Fault> {
        core::future::ready(()).await;
        self.calls = self.calls.wrapping_add(attempt.number());
        if self.calls > 3 {
            Ok(self.calls)
        } else {
            Err(Fault::Busy)
        }
    }
}

/// A trait with retried methods.
pub trait Ask {
    /// With a body.
    ///
    /// # Errors
    ///
    /// For the lints.
    #[inline]
    #[retry(max = 2, on(_))]
    fn ask(&self) -> Result<u32, Fault> {
        self.once()
    }

    /// Without.
    ///
    /// # Errors
    ///
    /// For the lints.
    fn once(&self) -> Result<u32, Fault>;
}

impl Ask for Service {
    #[inline]
    #[retry(max = 2, on(_))]
    fn once(&self) -> Result<u32, Fault> {
        if self.calls > 3 {
            Ok(self.calls)
        } else {
            Err(Fault::Busy)
        }
    }
}
