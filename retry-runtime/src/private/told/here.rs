//! The same in a sync loop. When a retry began is kept by the thread, not by the function: all that stands there
//! is how deep it lies, a constant that is folded away until something fails.

use std::cell::RefCell;

use super::{Beginnings, note, now};
use crate::ambient;
use crate::attempt::Cause;
use crate::observe::{self, Times};
use crate::operation::Operation;
use crate::private::{Began, Progress, Until};
use crate::timer::{Clock, Moment};

// A retry that runs.
#[derive(Clone, Copy)]
struct Retrying {
    operation: Operation,
    attempt: u32,
    began: Moment,
    // Of the call until then.
    call: Option<core::time::Duration>,
}

thread_local! {
    // One inside the other.
    static RETRYING: RefCell<Vec<Retrying>> = const { RefCell::new(Vec::new()) };
}

// Retries inside retries; deeper than this they are those of calls that panicked.
const DEEPEST: usize = 64;

// How deep in that stack a retry of this call runs, from 1; 0 while none does. Dropped while one does, the call has
// recovered, or panics. What lies above it then is of calls that panicked.
#[derive(Debug)]
pub struct InRetry(usize);

impl InRetry {
    #[inline(always)]
    #[expect(clippy::new_without_default, reason = "only an expansion makes one")]
    pub const fn new() -> Self {
        Self(0)
    }

    // As `note`, and the retry is over.
    #[inline(always)]
    pub fn note<E: ?Sized>(
        &mut self,
        progress: &impl Progress,
        operation: &Operation,
        began: impl Beginnings,
        cause: Cause<'_, E>,
        words: impl FnOnce(&E) -> Option<String>,
    ) {
        self.0 = 0;
        note(progress, operation, began, cause, words);
    }

    // A retry begins.
    #[inline(always)]
    pub fn enter(
        &mut self,
        progress: &impl Progress,
        operation: &Operation,
        began: impl Beginnings,
    ) {
        self.0 = enter(progress.failures(), operation, began);
    }
}

#[cold]
#[inline(never)]
fn enter(failures: u32, operation: &Operation, began: impl Beginnings) -> usize {
    if !observe::is_watched() {
        return 0;
    }
    let retrying = Retrying {
        operation: *operation,
        attempt: failures.saturating_add(1),
        began: now(),
        call: began.times(0, operation).call,
    };
    // A thread that ends knows of none.
    let pushed = RETRYING.try_with(|stack| {
        let Ok(mut stack) = stack.try_borrow_mut() else {
            return 0;
        };
        if stack.len() >= DEEPEST {
            stack.clear();
        }
        stack.push(retrying);
        stack.len()
    });
    pushed.unwrap_or(0)
}

// The same together with `Inside`, as one value: a success asks one question.
#[derive(Debug)]
pub struct InsideTold {
    inside: Option<ambient::Retrying>,
    told: usize,
}

impl InsideTold {
    #[inline(always)]
    #[expect(clippy::new_without_default, reason = "only an expansion makes one")]
    pub const fn new() -> Self {
        Self {
            inside: None,
            told: 0,
        }
    }

    #[inline(always)]
    pub fn enter(
        &mut self,
        progress: &impl Progress,
        operation: &Operation,
        began: impl Beginnings,
    ) {
        self.told = enter(progress.failures(), operation, began);
        self.inside = Some(ambient::Retrying::after(progress.failures()));
    }

    #[inline(always)]
    pub fn leave(&mut self) {
        self.inside = None;
    }

    // The retry has left, and was a success all the same.
    #[inline(always)]
    pub fn found(&mut self) {
        let told = core::mem::take(&mut self.told);
        if told > 0 {
            recovers(told);
        }
    }
}

impl Drop for InsideTold {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(inside) = self.inside.take() {
            drop(inside);
            if self.told > 0 {
                recovers(self.told);
            }
        }
    }
}

impl Drop for InRetry {
    #[inline(always)]
    fn drop(&mut self) {
        if self.0 > 0 {
            recovers(self.0);
        }
    }
}

#[cold]
#[inline(never)]
fn recovers(depth: usize) {
    let popped = RETRYING.try_with(|stack| {
        let mut stack = stack.try_borrow_mut().ok()?;
        stack.truncate(depth);
        (stack.len() == depth).then(|| stack.pop()).flatten()
    });
    let Some(retrying) = popped.ok().flatten() else {
        return;
    };
    if std::thread::panicking() {
        return;
    }
    let attempt = now().since(retrying.began);
    let times = Times {
        attempt: Some(attempt),
        call: retrying.call.map(|before| before.saturating_add(attempt)),
    };
    observe::recovered(&retrying.operation, retrying.attempt, times);
}

// The retry that has just failed.
fn popped(operation: &Operation, attempt: u32) -> Option<Moment> {
    let mine = |retrying: &mut Retrying| {
        retrying.attempt == attempt && retrying.operation.name() == operation.name()
    };
    let popped = RETRYING.try_with(|stack| stack.try_borrow_mut().ok()?.pop_if(mine));
    popped.ok().flatten().map(|retrying| retrying.began)
}

// What is known of times in a sync loop: of the attempt what the thread knows, of the call what it looked at itself.
#[derive(Debug, Clone, Copy)]
pub struct Here;

impl Beginnings for Here {
    fn times(self, failures: u32, operation: &Operation) -> Times {
        attempt(failures, operation).times(failures, operation)
    }

    fn forget(self, failures: u32, operation: &Operation) {
        let _began = attempt(failures, operation);
    }
}

#[derive(Debug, Clone, Copy)]
pub struct HereSince<C>(pub Began, pub Until, pub C);

impl<C: Clock + Copy> Beginnings for HereSince<C> {
    fn times(self, failures: u32, operation: &Operation) -> Times {
        let Self(call, until, clock) = self;
        let attempt = attempt(failures, operation);
        (call, attempt, until, clock).times(failures, operation)
    }

    fn forget(self, failures: u32, operation: &Operation) {
        Here.forget(failures, operation);
    }
}

fn attempt(failures: u32, operation: &Operation) -> Began {
    let popped = (failures > 0)
        .then(|| popped(operation, failures.saturating_add(1)))
        .flatten();
    popped.map_or(Began::UNKNOWN, Began::at)
}
