//! The faults of one use of a macro: collected, then reported together.

use proc_macro2::{Span, TokenStream};

/// Faults in the order in which they were found.
#[derive(Default)]
pub struct Faults(Vec<syn::Error>);

impl Faults {
    /// Adds a fault at `span`.
    pub fn push(&mut self, span: Span, message: impl std::fmt::Display) {
        self.0.push(syn::Error::new(span, message));
    }

    /// Adds a fault.
    pub fn add(&mut self, fault: syn::Error) {
        self.0.push(fault);
    }

    /// Adds the faults of another use of the same arguments: what they share is
    /// said once.
    pub fn merge(&mut self, other: Self) {
        // Spans have no equality; what they show has.
        let shown = |fault: &syn::Error| format!("{fault} {:?}", fault.span());
        for fault in other.0 {
            if !self.0.iter().any(|known| shown(known) == shown(&fault)) {
                self.0.push(fault);
            }
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `value`, unless there is a fault: the border between two stages.
    ///
    /// # Errors
    ///
    /// All of the faults, if there is one.
    pub fn finish<T>(self, value: T) -> Result<T, Self> {
        if self.0.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }

    /// Each of them, in the order in which they were found.
    pub fn iter(&self) -> std::slice::Iter<'_, syn::Error> {
        self.0.iter()
    }

    /// As errors of the compiler, at their places.
    pub fn into_compile_errors(self) -> TokenStream {
        self.0.iter().map(syn::Error::to_compile_error).collect()
    }
}

impl<'f> IntoIterator for &'f Faults {
    type Item = &'f syn::Error;
    type IntoIter = std::slice::Iter<'f, syn::Error>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<syn::Error> for Faults {
    fn from(fault: syn::Error) -> Self {
        Self(vec![fault])
    }
}
