//! Errors inside errors: the first one of some types decides what the whole means.

use core::error::Error;

use crate::failure::GaveUp;
use crate::retry_error::RetryError;
use crate::verdict::{Classify, Verdict};

/// Errors of one chain that are looked at. A `source` that returns the error itself would have no end.
const LINKS: usize = 64;

/// Returns a function that judges an error by the first one of some types that it is or contains.
///
/// The function walks from the error down its [`source`](Error::source)s. The first error of a type in the list decides,
/// by its [`Classify`]; so does a [`GaveUp`] of a call below. An error in which none of them is found is
/// [`Permanent`](Verdict::Permanent). It takes any error type with `core::error::Error`, `anyhow::Error`, `eyre::Report`,
/// and boxed errors, so it stands behind `on`, in `Policy::on`, and in an implementation of `Classify`.
///
/// Two kinds of errors hide what is inside them. An error of yours whose `source` skips a level, as
/// `#[error(transparent)]` of thiserror does, stands in the list itself. A value given to `anyhow::Context::context`
/// is text for its message; the error below it is found.
///
/// An [`io::Error`](std::io::Error) of the kind `Other` that wraps an error says nothing of its own: what it wraps is
/// asked first.
///
/// # Examples
///
/// ```
/// use reattempt::{chain, retry};
/// use std::error::Error;
/// use std::io::{self, ErrorKind};
///
/// #[retry(base = "1ms", on = chain![io::Error])]
/// fn total(calls: &mut u32) -> Result<u32, Box<dyn Error + Send + Sync>> {
///     *calls += 1;
///     if *calls < 3 {
///         return Err(io::Error::from(ErrorKind::ConnectionReset).into());
///     }
///     Ok("7".parse()?) // another error inside would be final
/// }
///
/// assert_eq!(total(&mut 0).ok(), Some(7));
/// ```
#[macro_export]
macro_rules! chain {
    () => {
        ::core::compile_error!(
            "`chain![]` finds no error, so nothing would be retried; name at least one type: `chain![std::io::Error]`\nrule S9: https://reattempt.github.io/reattempt/errors.html#s9"
        )
    };
    ($first:literal $(, $more:literal)* $(,)?) => {
        ::core::compile_error!(::core::concat!(
            "`chain!` takes types, which have no quotes; write `chain![", $first $(, ", ", $more)*, "]`\nrule S9: https://reattempt.github.io/reattempt/errors.html#s9"
        ))
    };
    ($($error:ty),+ $(,)?) => {
        // A pointer, because the compiler would say of a function twice what it is not for.
        $crate::chained::verdict::<$crate::__chain_list!($($error,)+), _, _>
            as fn(&_) -> $crate::Verdict
    };
    ($first:ty $(| $more:ty)+ $(,)?) => {
        ::core::compile_error!(::core::concat!(
            "`chain!` takes a list of types; write `chain![", ::core::stringify!($first) $(, ", ", ::core::stringify!($more))+, "]`\nrule S9: https://reattempt.github.io/reattempt/errors.html#s9"
        ))
    };
}

/// The list as a type: `(A, (B, ()))`.
#[doc(hidden)]
#[macro_export]
macro_rules! __chain_list {
    () => { () };
    ($first:ty, $($rest:ty,)*) => { ($first, $crate::__chain_list!($($rest,)*)) };
}

/// Returns the verdict of the first error of `L` that `error` is or contains.
pub fn verdict<L: ErrorTypes, E: AsError<M>, M>(error: &E) -> Verdict {
    let mut next = Some(error.as_error());
    // Of an `io::Error` that only wraps another: it counts where nothing is found below.
    let mut wrapper = None;
    for _ in 0..LINKS {
        let Some(error) = next else { break };
        let found = end_of(error).or_else(|| L::find(error));
        match found {
            Some(verdict) if !wraps(error) => return verdict,
            _ => wrapper = wrapper.or(found),
        }
        next = below(error);
    }
    wrapper.unwrap_or(Verdict::Permanent)
}

fn end_of(error: &(dyn Error + 'static)) -> Option<Verdict> {
    error.downcast_ref().map(GaveUp::classify)
}

/// Types of errors, one after the other.
pub trait ErrorTypes {
    /// Returns the verdict on `error`, if it is of one of the types.
    fn find(error: &(dyn Error + 'static)) -> Option<Verdict>;
}

impl ErrorTypes for () {
    fn find(_: &(dyn Error + 'static)) -> Option<Verdict> {
        None
    }
}

/// An error that a list names.
#[diagnostic::on_unimplemented(
    message = "`chain!` asks the errors that it names for their verdict, and `{Self}` does not implement `Classify`",
    label = "`Classify` is not implemented for `{Self}`",
    note = "for your own error type: `#[derive(reattempt::Classify)]`, and `core::error::Error`",
    note = "for an error of aws, bb8, deadpool, diesel, hyper, lettre, mysql-async, object-store, redis, reqwest, sqlx, tokio-postgres, tonic or ureq: enable the feature named after the library; older or newer releases have a number, such as `reqwest012` or `sqlx09`; for `std::io::Error` it is `std`",
    note = "`anyhow::Error`, `eyre::Report` and boxed errors hold what is asked: name what may be inside, such as `std::io::Error`",
    note = "for any other type: `on = |error| ...` may look for it with `downcast_ref`",
    note = "rule S4: https://reattempt.github.io/reattempt/errors.html#s4"
)]
pub trait InChain: Classify + Error + 'static {}

#[diagnostic::do_not_recommend]
impl<E: Classify + Error + 'static> InChain for E {}

impl<E: InChain, L: ErrorTypes> ErrorTypes for (E, L) {
    fn find(error: &(dyn Error + 'static)) -> Option<Verdict> {
        let verdict = found::<E>(error).or_else(|| found::<RetryError<E>>(error));
        // An error in a pointer is a source of the type of the pointer.
        #[cfg(feature = "std")]
        let verdict = verdict
            .or_else(|| found::<std::sync::Arc<E>>(error))
            .or_else(|| found::<Box<E>>(error));
        verdict.or_else(|| L::find(error))
    }
}

fn found<E: Classify + Error + 'static>(error: &(dyn Error + 'static)) -> Option<Verdict> {
    error.downcast_ref().map(E::classify)
}

/// Returns the error inside `error`. What an `io::Error` wraps is left out by its `source`.
pub(crate) fn below<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    #[cfg(feature = "std")]
    if let Some(wrapped) = error.downcast_ref().and_then(std::io::Error::get_ref) {
        return Some(wrapped);
    }
    // A shared error is one itself, whose source is that of what it shares.
    #[cfg(feature = "std")]
    if let Some(shared) = error.downcast_ref::<std::sync::Arc<dyn Error + Send + Sync>>() {
        return Some(&**shared);
    }
    #[cfg(feature = "std")]
    if let Some(shared) = error.downcast_ref::<std::sync::Arc<dyn Error + Send>>() {
        return Some(&**shared);
    }
    error.source()
}

/// Whether it is an `io::Error` that was made of another error and has no kind of its own.
#[cfg(feature = "std")]
fn wraps(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error
        .is_some_and(|error| error.kind() == std::io::ErrorKind::Other && error.get_ref().is_some())
}

#[cfg(not(feature = "std"))]
const fn wraps(_: &(dyn Error + 'static)) -> bool {
    false
}

/// An error, or a type that holds one, such as `anyhow::Error`. `M` says which of the two, and is inferred.
#[diagnostic::on_unimplemented(
    message = "`chain!` looks for errors inside `{Self}`, which is not an error",
    label = "neither `core::error::Error` nor a boxed error",
    note = "`chain!` takes types with `core::error::Error`, `anyhow::Error`, `eyre::Report`, `Box<dyn Error>` and `Box<dyn Error + Send + Sync>`",
    note = "rule S4: https://reattempt.github.io/reattempt/errors.html#s4"
)]
pub trait AsError<M> {
    /// Returns the error.
    fn as_error(&self) -> &(dyn Error + 'static);
}

/// How a type is an error.
#[derive(Debug)]
pub enum Itself {}

/// How a type holds an error.
#[derive(Debug)]
pub enum Holds {}

/// How a pointer holds an error that may be sent to other threads.
#[derive(Debug)]
pub enum Sends {}

#[diagnostic::do_not_recommend]
impl<E: Error + 'static> AsError<Itself> for E {
    fn as_error(&self) -> &(dyn Error + 'static) {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<E: AsRef<dyn Error + 'static>> AsError<Holds> for E {
    fn as_error(&self) -> &(dyn Error + 'static) {
        self.as_ref()
    }
}

#[cfg(feature = "std")]
macro_rules! sends {
    ($($pointer:ty)*) => { $(
        #[diagnostic::do_not_recommend]
        impl AsError<Sends> for $pointer {
            fn as_error(&self) -> &(dyn Error + 'static) {
                &**self
            }
        }
    )* };
}

#[cfg(feature = "std")]
sends! {
    Box<dyn Error + Send>
    Box<dyn Error + Send + Sync>
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::error::Error;
    use std::fmt;
    use std::io::{self, ErrorKind};
    use std::sync::Arc;

    use super::*;
    use crate::reason::GiveUpReason;

    /// An error around another one, so many levels deep.
    #[derive(Debug)]
    struct Deep(Option<Box<dyn Error + Send + Sync>>);

    impl Deep {
        fn around(error: impl Error + Send + Sync + 'static, levels: usize) -> Self {
            let innermost: Box<dyn Error + Send + Sync> = Box::new(error);
            let around = |inner, _| -> Box<dyn Error + Send + Sync> { Box::new(Self(Some(inner))) };
            Self(Some((1..levels).fold(innermost, around)))
        }
    }

    impl fmt::Display for Deep {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("deep")
        }
    }

    impl Error for Deep {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&**self.0.as_ref()?)
        }
    }

    fn reset() -> io::Error {
        ErrorKind::ConnectionReset.into()
    }

    fn said<E: AsError<M>, M>(error: &E) -> Verdict {
        verdict::<(io::Error, ()), E, M>(error)
    }

    #[test]
    fn the_first_that_is_named_decides() {
        assert_eq!(said(&reset()), Verdict::Transient);
        assert_eq!(said(&Deep(None)), Verdict::Permanent);
        // In a pointer, in the error of a call, in an error of the standard library.
        for error in [
            Deep::around(Arc::new(reset()), 1),
            Deep::around(Box::new(reset()), 1),
            Deep::around(
                RetryError::new(GaveUp::new(GiveUpReason::Attempts, 1), Some(reset())),
                1,
            ),
            Deep::around(io::Error::other(reset()), 1),
            Deep::around(reset(), LINKS - 1),
        ] {
            assert_eq!(said(&error), Verdict::Transient, "{error:?}");
        }
        assert_eq!(said(&Deep::around(reset(), LINKS)), Verdict::Permanent);
        // One that has a kind of its own, or only a text.
        let refused = io::Error::new(ErrorKind::ConnectionRefused, reset());
        assert_eq!(said(&refused), Verdict::Refused);
        assert_eq!(said(&io::Error::other("text")), Verdict::Permanent);
        let end = GaveUp::new(GiveUpReason::BreakerOpen, 0);
        assert_eq!(verdict::<(), _, _>(&Deep::around(end, 3)), Verdict::Refused);
        assert_eq!(verdict::<(), _, _>(&reset()), Verdict::Permanent);
    }

    #[test]
    fn what_holds_an_error_is_asked_for_it() {
        let held: Box<dyn Error> = Box::new(reset());
        assert_eq!(said(&held), Verdict::Transient);
        let sent: Box<dyn Error + Send> = Box::new(reset());
        assert_eq!(said(&sent), Verdict::Transient);
        let shared: Box<dyn Error + Send + Sync> = Box::new(reset());
        assert_eq!(said(&shared), Verdict::Transient);
        let counted: Arc<dyn Error + Send + Sync> = Arc::new(reset());
        assert_eq!(said(&counted), Verdict::Transient);
        assert_eq!(said(&Deep::around(counted, 2)), Verdict::Transient);
        let counted: Arc<dyn Error + Send> = Arc::new(reset());
        assert_eq!(said(&counted), Verdict::Transient);
    }
}
