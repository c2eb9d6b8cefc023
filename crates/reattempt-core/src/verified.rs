//! What `verify` finds out after an ambiguous failure of an operation that must
//! not run twice.

/// Whether a failed operation took effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verified<T> {
    /// It was, with this value: the call succeeds.
    Done(T),
    /// It certainly was not, and never will be: another attempt is safe.
    NotDone,
    /// It is not known: the call ends with its error.
    Unknown,
}

/// The return types of `verify`: [`Verified`], `Option` (`None` is [`Verified::NotDone`]), or
/// `bool` if the value is `()`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say whether the operation was executed",
    label = "expected `Verified<{T}>` or `Option<{T}>`",
    note = "`verify` returns a `reattempt::Verified`, or an `Option` of the value",
    note = "rule S9: https://reattempt.github.io/reattempt/errors.html#s9"
)]
pub trait IntoVerified<T> {
    /// The finding this answer stands for.
    fn into_verified(self) -> Verified<T>;
}

impl<T> IntoVerified<T> for Verified<T> {
    fn into_verified(self) -> Self {
        self
    }
}

impl<T> IntoVerified<T> for Option<T> {
    fn into_verified(self) -> Verified<T> {
        self.map_or(Verified::NotDone, Verified::Done)
    }
}

impl<T: Valueless> IntoVerified<T> for bool {
    fn into_verified(self) -> Verified<T> {
        self.then_some(T::VALUE).into_verified()
    }
}

/// A value that nothing has to be known of: `()`.
#[diagnostic::on_unimplemented(
    message = "a `bool` of `verify` says that the operation was executed, and not what it returned",
    label = "expected `Verified<{Self}>` or `Option<{Self}>`",
    note = "return `Some(value)` where it was executed and `None` where it was not, or a `reattempt::Verified`",
    note = "rule S9: https://reattempt.github.io/reattempt/errors.html#s9"
)]
pub trait Valueless {
    const VALUE: Self;
}

impl Valueless for () {
    const VALUE: Self = ();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_answer_stands_for() {
        for verified in [Verified::Done(1), Verified::NotDone, Verified::Unknown] {
            assert_eq!(verified.into_verified(), verified);
        }
        assert_eq!(Some(1).into_verified(), Verified::Done(1));
        assert_eq!(None::<u8>.into_verified(), Verified::NotDone);
        assert_eq!(IntoVerified::<()>::into_verified(true), Verified::Done(()));
        assert_eq!(IntoVerified::<()>::into_verified(false), Verified::NotDone);
    }
}
