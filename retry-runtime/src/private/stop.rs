//! The kill switch, as the loops ask it: after a failure in the step itself, and once more after the wait. An async
//! call drops its error before the wait; it is kept here where that does not make the future one that cannot
//! be sent. Which it is, the type decides, as in `either`.

use super::Progress;
use super::progress::watch_last;
use crate::call::GaveUp;
use crate::config;
use crate::failure::Interrupted;
use crate::operation::Operation;

// The end of a call that waited while retries were switched off.
#[inline(always)]
pub fn stopped(progress: &impl Progress, operation: &Operation) -> Option<Interrupted> {
    if config::is_stopped(operation) {
        Some(end(progress, operation))
    } else {
        None
    }
}

#[cold]
#[inline(never)]
fn end(progress: &impl Progress, operation: &Operation) -> Interrupted {
    watch_last(progress).gives_up(operation, GaveUp::Disabled);
    Interrupted::new(GaveUp::Disabled, progress.failures())
}

// What a call that gives up needs: the error, or the value that was polled last.
#[derive(Debug)]
pub struct Keep<V>(pub Option<V>);

pub trait Keeps {
    type Kept;

    fn reattempt_keep(self) -> Self::Kept;
}

impl<V: Send> Keeps for Keep<V> {
    type Kept = Kept<V>;

    #[inline(always)]
    fn reattempt_keep(self) -> Kept<V> {
        Kept(self.0)
    }
}

pub trait Drops {
    type Kept;

    fn reattempt_keep(&mut self) -> Self::Kept;
}

impl<V> Drops for Keep<V> {
    type Kept = Dropped<V>;

    #[inline(always)]
    fn reattempt_keep(&mut self) -> Dropped<V> {
        self.0 = None;
        Dropped(core::marker::PhantomData)
    }
}

#[derive(Debug)]
pub struct Kept<V>(Option<V>);

// A pointer to a function can be sent, whatever it speaks of.
#[derive(Debug)]
pub struct Dropped<V>(core::marker::PhantomData<fn() -> V>);

// After the wait: what was kept, if the call ends here.
pub trait Stopped<V> {
    fn end(self, progress: &impl Progress, operation: &Operation) -> Option<(V, Interrupted)>;
}

impl<V> Stopped<V> for Kept<V> {
    #[inline(always)]
    fn end(self, progress: &impl Progress, operation: &Operation) -> Option<(V, Interrupted)> {
        let end = stopped(progress, operation)?;
        self.0.map(|kept| (kept, end))
    }
}

// Nothing to end with: the attempt that was admitted is made.
impl<V> Stopped<V> for Dropped<V> {
    #[inline(always)]
    fn end(self, _: &impl Progress, _: &Operation) -> Option<(V, Interrupted)> {
        None
    }
}
