//! What errors of a status or a code mean to a policy, whatever their type says: the key `codes`.

use core::time::Duration;

use crate::duration::is_shorter;

/// A table of statuses and codes: the value of the key `codes`.
///
/// An error answers which codes it has (`Classify::has_code`). The first row of one of them decides in place of `on` and
/// `Classify`, unless the service forbade a retry. A delay that the error asks for holds all the same. Its rows stand in a `const`
/// or a `static`, as below.
///
/// # Examples
///
/// ```
/// use reattempt::Policy;
/// use reattempt::policy::{Codes, OnCode};
/// use std::time::Duration;
///
/// const SHOP: Codes = Codes::new(&[
///     OnCode::throttled("503").base(Duration::from_secs(5)),
///     OnCode::transient("404"), // its replicas lag
///     OnCode::permanent("500"),
/// ]);
/// const POLICY: Policy = Policy::new().codes(SHOP).checked();
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Codes(&'static [OnCode]);

impl Codes {
    /// A table without rows.
    pub const NONE: Self = Self(&[]);

    /// Returns a table of these rows.
    pub const fn new(rows: &'static [OnCode]) -> Self {
        Self(rows)
    }

    /// Returns its rows.
    pub const fn rows(&self) -> &'static [OnCode] {
        self.0
    }

    /// Returns the longest base of a row; zero without one.
    pub(crate) const fn longest_base(&self) -> Duration {
        let (mut longest, mut rest) = (Duration::ZERO, self.0);
        while let [row, tail @ ..] = rest {
            if let Some(base) = row.base
                && is_shorter(longest, base)
            {
                longest = base;
            }
            rest = tail;
        }
        longest
    }

    /// Returns the first row of a code that the error has.
    pub fn find(&self, mut has_code: impl FnMut(&str) -> bool) -> Option<&'static OnCode> {
        self.0.iter().find(|row| has_code(row.code))
    }
}

/// What a policy makes of an error of one status or code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnCode {
    pub(crate) code: &'static str,
    pub(crate) meaning: Meaning,
    pub(crate) base: Option<Duration>,
}

/// What the row of a code says of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub enum Meaning {
    /// `Verdict::Transient`.
    Transient,
    /// `Verdict::Throttled`.
    Throttled,
    /// `Verdict::Refused`.
    Refused,
    /// `Verdict::Permanent`.
    Permanent,
}

impl OnCode {
    /// An error of this code is worth another attempt; the operation may have been executed.
    pub const fn transient(code: &'static str) -> Self {
        Self::new(code, Meaning::Transient)
    }

    /// An error of this code says that the service is overloaded and has turned the request away. The delay after it starts
    /// from `throttled_base`, or from the [`base`](Self::base) of the row.
    pub const fn throttled(code: &'static str) -> Self {
        Self::new(code, Meaning::Throttled)
    }

    /// An error of this code is worth another attempt, and proves that nothing was executed.
    pub const fn refused(code: &'static str) -> Self {
        Self::new(code, Meaning::Refused)
    }

    /// An error of this code is final.
    pub const fn permanent(code: &'static str) -> Self {
        Self::new(code, Meaning::Permanent)
    }

    /// Sets the least unit of the shape for the delay after an error of this code, in place of `throttled_base`.
    ///
    /// # Units and ranges
    ///
    /// Not above the `cap` of the policy. A value below its `base` and `first` changes nothing, nor does one of a code that is
    /// final.
    #[must_use = "a row is not changed in place"]
    pub const fn base(mut self, base: Duration) -> Self {
        self.base = Some(base);
        self
    }

    pub(crate) const fn new(code: &'static str, meaning: Meaning) -> Self {
        Self {
            code,
            meaning,
            base: None,
        }
    }

    /// Returns what it says of an error.
    #[doc(hidden)]
    pub const fn meaning(&self) -> Meaning {
        self.meaning
    }

    /// Returns the least unit of the shape after an error of this code, if it sets one.
    #[doc(hidden)]
    pub const fn least_base(&self) -> Option<Duration> {
        self.base
    }
}
