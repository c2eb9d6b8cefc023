//! An attempt under an inherited policy, of which nobody knows here whether it has
//! a limit: it is cut off if the answer can say so. Which it is, the type decides:
//! the method that takes `self` is tried before the one that takes `&mut self`. Where
//! it is not, what is below sees the call's deadline alone.

use core::convert::Infallible;
use core::future::Future;

use super::Cut;
use crate::engine::{LiveCall, Place, TimedOut, Until, endured, limited};
use crate::timer::Timer;

#[derive(Debug)]
pub struct Either<F>(pub Option<F>);

pub trait MayCut {
    type Output;

    fn reattempt_limited<T: Timer>(
        self,
        limit: Until,
        until: Until,
        call: &mut LiveCall<impl Place>,
        timer: T,
    ) -> impl Future<Output = Result<Self::Output, TimedOut>>;
}

impl<F: Future<Output: Cut>> MayCut for Either<F> {
    type Output = F::Output;

    #[expect(clippy::unreachable, reason = "an expansion makes it with its attempt")]
    fn reattempt_limited<T: Timer>(
        self,
        limit: Until,
        _: Until,
        call: &mut LiveCall<impl Place>,
        timer: T,
    ) -> impl Future<Output = Result<F::Output, TimedOut>> {
        match self.0 {
            Some(body) => limited(body, limit, call, timer),
            None => unreachable!("made with its attempt"),
        }
    }
}

pub trait NeverCuts {
    type Output;

    fn reattempt_limited<'c, T: Timer, P: Place>(
        &mut self,
        limit: Until,
        until: Until,
        call: &'c mut LiveCall<P>,
        timer: T,
    ) -> impl Future<Output = Result<Self::Output, Infallible>> + use<'c, Self, T, P>;
}

impl<F: Future> NeverCuts for Either<F> {
    type Output = F::Output;

    #[expect(clippy::unreachable, reason = "an expansion asks once")]
    fn reattempt_limited<'c, T: Timer, P: Place>(
        &mut self,
        _: Until,
        until: Until,
        call: &'c mut LiveCall<P>,
        timer: T,
    ) -> impl Future<Output = Result<F::Output, Infallible>> + use<'c, F, T, P> {
        match self.0.take() {
            Some(body) => endured(body, until, call, timer),
            None => unreachable!("an attempt is made once"),
        }
    }
}
