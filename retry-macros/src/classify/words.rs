//! The verdicts as they are written.

use proc_macro2::Span;
use syn::{Expr, Member, Type};

/// A verdict as written.
pub(super) struct Said {
    pub(super) word: Word,
    /// The field that holds the delay.
    pub(super) after: Option<Member>,
    pub(super) span: Span,
    /// Said for the whole type.
    pub(super) is_default: bool,
}

pub(super) enum Word {
    Transient,
    Permanent,
    Refused,
    Forbidden,
    Throttled,
    Inherit,
    /// `chain(io::Error, ...)`: the types to look for.
    Chain(Vec<Type>),
    /// `with = function`: what says the verdict on the fields.
    With(Box<Expr>),
    /// `from`, or `from = RequestError<E, R>` behind an alias: as `inherit`, and what `?` makes the variant of.
    From(Option<Box<Type>>),
}

/// The verdicts that any variant may have; `chain`, `from` and `with` say more about theirs.
pub(super) const WORDS: &[&str] = &[
    "transient",
    "permanent",
    "throttled",
    "refused",
    "forbidden",
    "inherit",
];

pub(super) const ALL_WORDS: &[&str] = &[
    "transient",
    "permanent",
    "throttled",
    "refused",
    "forbidden",
    "inherit",
    "chain",
    "from",
    "with",
];
