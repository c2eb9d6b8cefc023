//! What code that fails by `?` ends with. Of what does not fit no type is known behind it, so that the compiler says nothing
//! else of the cause.

use core::ops::ControlFlow;
use core::task::Poll;

/// What an attempt without a type ends with, from which `?` leaves.
#[diagnostic::on_unimplemented(
    message = "an attempt that fails by `?` returns a `Result`, and this one ends with a plain value, of type `{Self}`",
    label = "write `Ok(...)` around it, or `Some(...)` behind the `?` of an `Option`",
    note = "rule S1: https://reattempt.github.io/reattempt/errors.html#s1"
)]
pub trait EndsAttempt {
    type Same;

    fn same(self) -> Self::Same;
}

/// What a `fallback` ends with that is left by `?`.
#[diagnostic::on_unimplemented(
    message = "`fallback` may return the whole `Result`, and `?` takes the value out of it; drop the `?` at the end, or write `Ok(...)` around the value",
    label = "a plain value, of type `{Self}`",
    note = "rule S9: https://reattempt.github.io/reattempt/errors.html#s9"
)]
pub trait EndsFallback {
    type Same;

    fn same(self) -> Self::Same;
}

/// What has a success and a failure, for each of these bounds.
macro_rules! ends {
    ($($bound:ident)+) => { $(
        same! { $bound [T E] Result<T, E>, [T] Option<T>, [T] Poll<T>, [B C] ControlFlow<B, C> }
    )+ };
}

macro_rules! same {
    ($bound:ident $([$($parameter:ident)+] $ty:ty),+) => { $(
        #[diagnostic::do_not_recommend]
        impl<$($parameter),+> $bound for $ty {
            type Same = Self;

            #[inline(always)]
            fn same(self) -> Self {
                self
            }
        }
    )+ };
}

ends!(EndsAttempt EndsFallback);

/// The end of such code.
#[derive(Debug)]
pub struct EndOf<T>(pub T);

/// Its methods: what they need is asked behind the search for them, and of the argument of a function the compiler would say
/// it once more.
pub trait End<T>: Sized {
    fn end(self) -> T;

    /// The end of an attempt.
    #[inline(always)]
    fn reattempt_attempt(self) -> T::Same
    where
        T: EndsAttempt,
    {
        self.end().same()
    }

    /// The end of a `fallback`.
    #[inline(always)]
    fn reattempt_fallback(self) -> T::Same
    where
        T: EndsFallback,
    {
        self.end().same()
    }
}

impl<T> End<T> for EndOf<T> {
    #[inline(always)]
    fn end(self) -> T {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_code_stays_what_it_is() {
        let failed: Result<u8, u8> = Err(7);
        assert_eq!(EndOf(failed).reattempt_attempt(), failed);
        assert_eq!(EndOf(failed).reattempt_fallback(), failed);
        assert_eq!(EndOf(Some(7)).reattempt_attempt(), Some(7));
        assert_eq!(EndOf(Poll::Ready(7)).reattempt_fallback(), Poll::Ready(7));
        let left = ControlFlow::<u8, u8>::Break(7);
        assert_eq!(EndOf(left).reattempt_attempt(), left);
    }
}
