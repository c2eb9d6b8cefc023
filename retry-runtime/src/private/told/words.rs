//! What an error says of itself, as its type allows.

use core::fmt;

use crate::said::{said, shown};

// What an error says of itself, as its type allows: the method that needs fewer references is found first.
#[derive(Debug)]
pub struct Words<'e, E: ?Sized>(pub &'e E);

// Whatever the error is.
impl<E: ?Sized> Clone for Words<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E: ?Sized> Copy for Words<'_, E> {}

pub trait WordsByDisplay {
    fn reattempt_words(self) -> Option<String>;
}

impl<E: fmt::Display + ?Sized> WordsByDisplay for &&Words<'_, E> {
    fn reattempt_words(self) -> Option<String> {
        Some(said(self.0))
    }
}

pub trait WordsByDebug {
    fn reattempt_words(self) -> Option<String>;
}

impl<E: fmt::Debug + ?Sized> WordsByDebug for &Words<'_, E> {
    fn reattempt_words(self) -> Option<String> {
        Some(shown(self.0))
    }
}

pub trait NoWords {
    fn reattempt_words(self) -> Option<String>;
}

impl<E: ?Sized> NoWords for Words<'_, E> {
    fn reattempt_words(self) -> Option<String> {
        None
    }
}

// The words that an error is asked for as a trait object.
pub(crate) fn words(message: Option<&dyn fmt::Display>) -> Option<String> {
    message.map(said)
}
