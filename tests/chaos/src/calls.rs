//! One call of one operation: what the plan says of it, and what its bodies and hooks tell the log.

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use reattempt::{Classify, GaveUp, Policy, RetryError, Verdict, deadline};

use crate::log::{self, AttemptEnd, CallEnd, Hook, Id, What};
use crate::ops::Op;
use crate::policies;
use crate::random::Random;
use crate::shared_budgets::SharedBudget;

/// The numbers of a call that invariants need. Those of a [`Policy`] cannot be read from it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spec {
    pub(crate) op: Op,
    pub(crate) max: u32,
    pub(crate) cap: Duration,
    pub(crate) deadline: Option<Duration>,
    pub(crate) timeout: Option<Duration>,
    /// The deadline from above.
    pub(crate) within: Option<Duration>,
    /// Dropped after this time.
    pub(crate) cancel: Option<Duration>,
    pub(crate) budget: Option<SharedBudget>,
    /// Whether it makes all its attempts inside a retry of another call.
    pub(crate) multiplies: bool,
    /// Of the breaker, where the operation has one.
    pub(crate) key: u16,
}

impl Spec {
    pub(crate) const NOTHING: Self = Self {
        op: Op::Fetch,
        max: 1,
        cap: Duration::ZERO,
        deadline: None,
        timeout: None,
        within: None,
        cancel: None,
        budget: None,
        multiplies: false,
        key: 0,
    };

    /// The earlier of its own deadline and that from above.
    pub(crate) fn limit(&self) -> Option<Duration> {
        self.deadline.into_iter().chain(self.within).min()
    }
}

/// A call that runs.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) id: Id,
    pub(crate) spec: Spec,
    pub(crate) policy: Policy,
    begun: AtomicU32,
    copies: AtomicU32,
    below: AtomicU64,
}

impl Call {
    pub(crate) fn begin(id: Id, spec: Spec, policy: Policy) -> Self {
        log::begin(id, &spec);
        log::note(id, What::Began);
        Self {
            id,
            spec,
            policy,
            begun: AtomicU32::new(0),
            copies: AtomicU32::new(0),
            below: AtomicU64::new(0),
        }
    }

    /// A call that this one makes: of `op`, below the deadline that holds here.
    pub(crate) fn below(&self, op: Op, change: impl FnOnce(&mut Spec, Policy) -> Policy) -> Self {
        let id = self.id + self.below.fetch_add(1, Ordering::SeqCst) + 1;
        let (mut spec, policy) = policies::draw(&mut Random::of(id, &[6]), op);
        spec.within = deadline::remaining();
        let policy = change(&mut spec, policy);
        Self::begin(id, spec, policy)
    }

    /// The last attempt that has begun.
    pub(crate) fn begun(&self) -> u32 {
        self.begun.load(Ordering::SeqCst)
    }

    /// The body of an attempt begins.
    pub(crate) fn attempt(&self, number: u32) -> Body<'_> {
        let copy = self.copies.fetch_add(1, Ordering::SeqCst);
        self.begun.fetch_max(number, Ordering::SeqCst);
        log::note(self.id, What::Attempt { number, copy });
        let end = AttemptEnd::Dropped;
        Body {
            call: self,
            copy,
            end,
        }
    }

    pub(crate) fn hook(&self, hook: Hook) -> Hooked {
        log::note(self.id, What::Hook(hook));
        Hooked(self.id, hook)
    }

    pub(crate) fn ended<T>(&self, outcome: &Result<T, RetryError<Wrong>>) {
        let end = match outcome {
            Ok(_) => CallEnd::Ok,
            Err(failed) => CallEnd::Failed(Some((failed.reason(), failed.attempts()))),
        };
        log::note(self.id, What::CallEnded(end));
    }
}

/// An attempt that runs; dropped without an end it was cut off.
#[derive(Debug)]
pub(crate) struct Body<'c> {
    call: &'c Call,
    copy: u32,
    end: AttemptEnd,
}

impl Body<'_> {
    pub(crate) fn end<T>(mut self, outcome: Result<T, Wrong>) -> Result<T, Wrong> {
        self.end = match &outcome {
            Ok(_) => AttemptEnd::Ok,
            Err(wrong) => AttemptEnd::Err(wrong.verdict),
        };
        outcome
    }

    /// Of one that polls, which said whether it is done.
    pub(crate) fn asked(mut self, outcome: Result<bool, Wrong>) -> Result<bool, Wrong> {
        self.end = match &outcome {
            Ok(true) => AttemptEnd::Ok,
            Ok(false) => AttemptEnd::NotFinal,
            Err(wrong) => AttemptEnd::Err(wrong.verdict),
        };
        outcome
    }
}

impl Drop for Body<'_> {
    fn drop(&mut self) {
        let (copy, end) = (self.copy, self.end);
        log::note(self.call.id, What::AttemptEnded { copy, end });
    }
}

/// Until a hook has ended, or is cut off.
#[derive(Debug)]
pub(crate) struct Hooked(Id, Hook);

impl Drop for Hooked {
    fn drop(&mut self) {
        log::note(self.0, What::HookEnded(self.1));
    }
}

/// The error of every operation: what the error of the library below meant.
#[derive(Debug, Clone)]
pub(crate) struct Wrong {
    pub(crate) verdict: Verdict,
    text: String,
}

impl Wrong {
    pub(crate) fn of(error: &(impl Classify + fmt::Debug)) -> Self {
        Self {
            verdict: error.classify(),
            text: format!("{error:?}"),
        }
    }

    pub(crate) fn new(verdict: Verdict, text: &str) -> Self {
        Self {
            verdict,
            text: text.to_owned(),
        }
    }
}

impl Classify for Wrong {
    fn classify(&self) -> Verdict {
        self.verdict
    }

    fn message(&self) -> Option<&dyn fmt::Display> {
        Some(&self.text)
    }
}

impl From<GaveUp> for Wrong {
    fn from(end: GaveUp) -> Self {
        Self::of(&end)
    }
}
