//! The faults of one use of a macro: collected, then reported together. Each names its rule of the error index.

use std::fmt;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use reattempt_policy::rules::RuleId;
use reattempt_policy::written::ParseError;

/// The tokens that a fault is about, from the first to the last: the compiler underlines all of them.
#[derive(Clone, Copy)]
pub struct Place {
    first: Span,
    last: Span,
}

impl Place {
    /// Returns the place of some tokens, or of the whole macro where there is none.
    pub fn of(tokens: &impl ToTokens) -> Self {
        let mut spans = tokens
            .to_token_stream()
            .into_iter()
            .map(|token| token.span());
        let first = spans.next().unwrap_or_else(Span::call_site);
        let last = spans.last().unwrap_or(first);
        Self { first, last }
    }

    /// Returns where it begins.
    pub fn first(self) -> Span {
        self.first
    }
}

impl From<Span> for Place {
    fn from(span: Span) -> Self {
        Self {
            first: span,
            last: span,
        }
    }
}

/// One fault: where, which rule, and in words.
#[derive(Clone)]
pub struct Diagnostic {
    place: Place,
    rule: RuleId,
    message: String,
}

impl Diagnostic {
    /// A fault at `place`.
    pub fn new(place: impl Into<Place>, rule: RuleId, message: impl fmt::Display) -> Self {
        Self {
            place: place.into(),
            rule,
            message: message.to_string(),
        }
    }

    /// What is wrong with the value at `place`.
    pub fn of(place: impl Into<Place>, wrong: ParseError) -> Self {
        Self {
            place: place.into(),
            rule: wrong.rule,
            message: wrong.message,
        }
    }

    /// What the parser of Rust has found.
    pub fn syntax(fault: &syn::Error) -> Self {
        Self::new(fault.span(), RuleId::Syntax, fault)
    }

    /// Returns where it begins.
    pub fn span(&self) -> Span {
        self.place.first
    }

    /// What the error index says about it.
    pub fn rule(&self) -> RuleId {
        self.rule
    }

    /// The rule with the user's value, then the fix.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The message, and below it where the rule is explained: editors show the first line alone.
    fn to_compile_error(&self) -> TokenStream {
        let text = format!("{}\n{}", self.message, self.rule.footer());
        let (first, last) = (self.place.first, self.place.last);
        let (first, last) = (quote_spanned!(first=> _), quote_spanned!(last=> _));
        syn::Error::new_spanned(quote::quote!(#first #last), text).to_compile_error()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.rule)
    }
}

/// Diagnostics in the order in which they were found.
#[derive(Default)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Adds a fault at `place`.
    pub fn push(&mut self, place: impl Into<Place>, rule: RuleId, message: impl fmt::Display) {
        self.0.push(Diagnostic::new(place, rule, message));
    }

    /// Adds a fault.
    pub fn add(&mut self, fault: Diagnostic) {
        self.0.push(fault);
    }

    /// Adds the faults of another use of the same arguments: what they share is
    /// said once.
    pub fn merge(&mut self, other: Self) {
        // Spans have no equality; what they show has.
        let shown = |fault: &Diagnostic| format!("{fault} {:?}", fault.span());
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
    pub const fn as_slice(&self) -> &[Diagnostic] {
        self.0.as_slice()
    }

    /// As errors of the compiler, at their places.
    pub fn into_compile_errors(self) -> TokenStream {
        self.0.iter().map(Diagnostic::to_compile_error).collect()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(fault: Diagnostic) -> Self {
        Self(vec![fault])
    }
}

impl From<syn::Error> for Diagnostics {
    fn from(fault: syn::Error) -> Self {
        let faults = fault.into_iter();
        Self(faults.map(|fault| Diagnostic::syntax(&fault)).collect())
    }
}
