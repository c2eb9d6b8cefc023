//! An attempt under an inherited policy, of which nobody knows here whether it has
//! a limit: it is cut off if the answer can say so. Which it is, the type decides:
//! the method that takes `self` is tried before the one that takes `&mut self`. Where
//! it is not, what is below sees the call's deadline alone.

use core::convert::Infallible;
use core::future::Future;

use super::{Cut, Progress, TimedOut, Until, endured, limited};
use crate::timer::Timer;

#[derive(Debug)]
pub struct Either<F>(pub Option<F>);

pub trait MayCut {
    type Output;

    fn reattempt_limited<T: Timer, P: Progress>(
        self,
        limit: Until,
        until: Until,
        progress: P,
        timer: T,
    ) -> impl Future<Output = Result<Self::Output, TimedOut>>;
}

impl<F: Future<Output: Cut>> MayCut for Either<F> {
    type Output = F::Output;

    #[expect(clippy::unreachable, reason = "an expansion makes it with its attempt")]
    fn reattempt_limited<T: Timer, P: Progress>(
        self,
        limit: Until,
        _: Until,
        progress: P,
        timer: T,
    ) -> impl Future<Output = Result<F::Output, TimedOut>> {
        match self.0 {
            Some(body) => limited(body, limit, progress, timer),
            None => unreachable!("made with its attempt"),
        }
    }
}

pub trait NeverCuts {
    type Output;

    fn reattempt_limited<T: Timer, P: Progress>(
        &mut self,
        limit: Until,
        until: Until,
        progress: P,
        timer: T,
    ) -> impl Future<Output = Result<Self::Output, Infallible>> + use<Self, T, P>;
}

impl<F: Future> NeverCuts for Either<F> {
    type Output = F::Output;

    #[expect(clippy::unreachable, reason = "an expansion asks once")]
    fn reattempt_limited<T: Timer, P: Progress>(
        &mut self,
        _: Until,
        until: Until,
        progress: P,
        timer: T,
    ) -> impl Future<Output = Result<F::Output, Infallible>> + use<F, T, P> {
        match self.0.take() {
            Some(body) => endured(body, until, progress, timer),
            None => unreachable!("an attempt is made once"),
        }
    }
}
