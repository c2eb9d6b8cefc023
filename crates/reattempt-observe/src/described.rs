//! What an error says of itself, as its type allows.

use core::fmt;

use reattempt_core::chained::AsError;

use crate::said::{said, said_with_causes, shown};

/// An error that describes itself as its type allows: the method that needs fewer references is found first.
#[derive(Debug)]
pub struct Error<'e, E: ?Sized>(pub &'e E);

// Whatever the error is.
impl<E: ?Sized> Clone for Error<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: ?Sized> Copy for Error<'_, E> {}

/// Describes an error with its causes.
pub trait ByCauses {
    /// Returns what they say.
    fn reattempt_text(self) -> Option<String>;
}

impl<E: core::error::Error> ByCauses for &&&&Error<'_, E> {
    fn reattempt_text(self) -> Option<String> {
        Some(said_with_causes(self.0))
    }
}

/// Describes what holds an error, such as a box, by that error with its causes.
pub trait ByContent<M> {
    /// Returns what they say.
    fn reattempt_text(self) -> Option<String>;
}

impl<M, E: AsError<M>> ByContent<M> for &&&Error<'_, E> {
    fn reattempt_text(self) -> Option<String> {
        Some(said_with_causes(self.0.as_error()))
    }
}

/// Describes an error by its `Display`.
pub trait ByDisplay {
    /// Returns what it says.
    fn reattempt_text(self) -> Option<String>;
}

impl<E: fmt::Display + ?Sized> ByDisplay for &&Error<'_, E> {
    fn reattempt_text(self) -> Option<String> {
        Some(said(self.0))
    }
}

/// Describes an error by its `Debug`.
pub trait ByDebug {
    /// Returns what it says.
    fn reattempt_text(self) -> Option<String>;
}

impl<E: fmt::Debug + ?Sized> ByDebug for &Error<'_, E> {
    fn reattempt_text(self) -> Option<String> {
        Some(shown(self.0))
    }
}

/// Describes any other error by the name of its type.
pub trait ByName {
    /// Returns nothing.
    fn reattempt_text(self) -> Option<String>;
}

impl<E: ?Sized> ByName for Error<'_, E> {
    fn reattempt_text(self) -> Option<String> {
        None
    }
}
