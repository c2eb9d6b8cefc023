//! What an async call keeps through a delay, for the case that it ends there: at the kill switch,
//! or at a deadline that a late timer has missed. A call that ends needs its error, but one that
//! cannot be sent would make the future one that cannot be sent, so it is dropped before the delay.
//! The type decides: the method that takes `self` is tried before the one that takes `&mut self`. A
//! type that is not written cannot be asked: the choice would be made before it is known.

use core::marker::PhantomData;

use super::{CallContext, LiveCall, Place};
use crate::around;
use crate::failure::GaveUp;
use crate::timer::Clock;

/// Whether this build has a kill switch, which may end any call.
const HAS_KILL_SWITCH: bool = cfg!(feature = "config");

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

impl<V: Send> KeepSend for Keep<V> {
    type Kept = Kept<V>;

    #[inline(always)]
    fn reattempt_keep(self) -> Kept<V> {
        Kept(self.0)
    }
}

/// Drops anything else.
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

/// What is kept through the delay, where the call may end after it.
#[derive(Debug)]
pub struct Kept<V>(pub Option<V>);

/// Nothing is kept; a pointer to a function can be sent, whatever it speaks of.
#[derive(Debug)]
pub struct Dropped<V>(PhantomData<fn() -> V>);

/// What a delay keeps.
pub trait TakeKept {
    /// Returns it when the delay is over.
    fn take(&mut self) -> Self;

    /// Drops it: nothing can end the call after the delay.
    fn forget(&mut self) {}
}

impl TakeKept for () {
    #[inline(always)]
    fn take(&mut self) {}
}

impl<V> TakeKept for Dropped<V> {
    #[inline(always)]
    fn take(&mut self) -> Self {
        Self(PhantomData)
    }
}

impl<V> TakeKept for Kept<V> {
    #[inline(always)]
    fn take(&mut self) -> Self {
        Self(self.0.take())
    }

    #[inline(always)]
    fn forget(&mut self) {
        self.0 = None;
    }
}

impl<T: Clock> CallContext<'_, T> {
    /// Returns whether a call that waits may end after the delay.
    #[inline(always)]
    pub fn may_end(&self) -> bool {
        // The constant first: with the switch the rest is not compiled.
        HAS_KILL_SWITCH || !self.until.is_never() || !around::until().is_endless()
    }
}

/// What is kept through any delay, because the attempts after it may need it.
#[derive(Debug)]
pub struct Held<K>(K);

impl<K> Held<K> {
    /// Holds what was kept.
    #[inline(always)]
    pub const fn new(kept: K) -> Self {
        Self(kept)
    }
}

impl<K: TakeKept> TakeKept for Held<K> {
    #[inline(always)]
    fn take(&mut self) -> Self {
        Self(self.0.take())
    }
}

impl<P: Place> LiveCall<P> {
    /// Tests, after a delay, whether the retry may still begin. Returns what was kept and how the call ended, if not.
    #[inline(always)]
    pub fn stopped<V, T: Clock>(
        &mut self,
        kept: impl Stopped<V>,
        context: CallContext<'_, T>,
    ) -> Option<(V, GaveUp)> {
        kept.resumed(self, context).err()
    }

    /// Tests the same, and returns what was held.
    ///
    /// # Errors
    ///
    /// What was kept and how the call ended.
    #[inline(always)]
    pub fn resumed<V, K: Stopped<V>, T: Clock>(
        &mut self,
        held: Held<K>,
        context: CallContext<'_, T>,
    ) -> Result<K, (V, GaveUp)> {
        held.0.resumed(self, context)
    }
}

/// What may be kept through a delay.
pub trait Stopped<V>: Sized {
    /// Returns it where the retry may begin.
    ///
    /// # Errors
    ///
    /// What was kept and how the call ended.
    fn resumed<T: Clock>(
        self,
        call: &mut LiveCall<impl Place>,
        context: CallContext<'_, T>,
    ) -> Result<Self, (V, GaveUp)>;
}

impl<V> Stopped<V> for Kept<V> {
    #[inline(always)]
    fn resumed<T: Clock>(
        self,
        call: &mut LiveCall<impl Place>,
        context: CallContext<'_, T>,
    ) -> Result<Self, (V, GaveUp)> {
        // Forgotten before the delay, because nothing could end the call after it.
        let Some(kept) = self.0 else {
            return Ok(self);
        };
        match call.resume(context) {
            Ok(()) => Ok(Self(Some(kept))),
            Err(end) => Err((kept, end)),
        }
    }
}

/// There is nothing to end with: the attempt that the machine allowed is made.
impl<V> Stopped<V> for Dropped<V> {
    #[inline(always)]
    fn resumed<T: Clock>(
        self,
        _: &mut LiveCall<impl Place>,
        _: CallContext<'_, T>,
    ) -> Result<Self, (V, GaveUp)> {
        Ok(self)
    }
}
