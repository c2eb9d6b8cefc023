//! The kill switch, as an async call asks it after a delay. A call that ends there needs its error, which it drops
//! before the delay unless that can be kept without making the future one that cannot be sent. The type decides: the
//! method that takes `self` is tried before the one that takes `&mut self`.

use core::marker::PhantomData;

use super::{CallContext, LiveCall, Place};
#[cfg(feature = "config")]
use crate::call::GiveUpReason;
use crate::failure::GaveUp;
use crate::timer::Clock;

/// What a call that gives up needs: the error, or the value that was polled last.
#[derive(Debug)]
pub struct Keep<V>(pub Option<V>);

/// Keeps what can be sent.
pub trait KeepSend {
    /// What is kept.
    type Kept;

    /// Keeps it.
    fn reattempt_keep(self) -> Self::Kept;
}

#[cfg(feature = "config")]
impl<V: Send> KeepSend for Keep<V> {
    type Kept = Kept<V>;

    #[inline(always)]
    fn reattempt_keep(self) -> Kept<V> {
        Kept(self.0)
    }
}

/// Drops anything else, and everything where there is no kill switch.
pub trait DropOther {
    /// What is left of it.
    type Kept;

    /// Drops it.
    fn reattempt_keep(&mut self) -> Self::Kept;
}

impl<V> DropOther for Keep<V> {
    type Kept = Dropped<V>;

    #[inline(always)]
    fn reattempt_keep(&mut self) -> Dropped<V> {
        self.0 = None;
        Dropped(PhantomData)
    }
}

/// What is kept through the delay.
#[cfg(feature = "config")]
#[derive(Debug)]
pub struct Kept<V>(Option<V>);

/// Nothing is kept; a pointer to a function can be sent, whatever it speaks of.
#[derive(Debug)]
pub struct Dropped<V>(PhantomData<fn() -> V>);

impl<P: Place> LiveCall<P> {
    /// Asks the kill switch after a delay: returns what was kept and how the call ended, if retries are switched off.
    #[inline(always)]
    pub fn stopped<V, T: Clock>(
        &mut self,
        kept: impl Stopped<V>,
        context: CallContext<'_, T>,
    ) -> Option<(V, GaveUp)> {
        kept.stopped(self, context)
    }
}

/// Takes out what a delay keeps, when it is over.
#[cfg(feature = "std")]
pub trait TakeKept {
    /// Returns it.
    fn take(&mut self) -> Self;
}

#[cfg(feature = "std")]
impl TakeKept for () {
    #[inline(always)]
    fn take(&mut self) {}
}

#[cfg(feature = "std")]
impl<V> TakeKept for Dropped<V> {
    #[inline(always)]
    fn take(&mut self) -> Self {
        Self(PhantomData)
    }
}

#[cfg(feature = "config")]
impl<V> TakeKept for Kept<V> {
    #[inline(always)]
    fn take(&mut self) -> Self {
        Self(self.0.take())
    }
}

/// What may be kept through a delay.
pub trait Stopped<V> {
    /// Returns what was kept and how the call ended, if retries are switched off.
    fn stopped<T: Clock>(
        self,
        call: &mut LiveCall<impl Place>,
        context: CallContext<'_, T>,
    ) -> Option<(V, GaveUp)>;
}

#[cfg(feature = "config")]
impl<V> Stopped<V> for Kept<V> {
    #[inline(always)]
    fn stopped<T: Clock>(
        self,
        call: &mut LiveCall<impl Place>,
        context: CallContext<'_, T>,
    ) -> Option<(V, GaveUp)> {
        let kept = self.0.filter(|_| context.is_disabled())?;
        Some((kept, call.ended(context, GiveUpReason::Disabled)))
    }
}

/// There is nothing to end with: the attempt that the machine allowed is made.
impl<V> Stopped<V> for Dropped<V> {
    #[inline(always)]
    fn stopped<T: Clock>(
        self,
        _: &mut LiveCall<impl Place>,
        _: CallContext<'_, T>,
    ) -> Option<(V, GaveUp)> {
        None
    }
}
