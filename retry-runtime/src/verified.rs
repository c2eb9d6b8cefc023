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
    /// Nobody knows: the call ends with its error.
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

impl IntoVerified<()> for bool {
    fn into_verified(self) -> Verified<()> {
        self.then_some(()).into_verified()
    }
}
