//! Policies as users give them: the keys of an attribute, or a name in a configuration file.

mod file;
mod rule;
mod text;

use std::ops::Range;
use std::time::Duration;

use retry_runtime::Policy;

pub(crate) use file::{Refused, from_file, over};
pub(crate) use text::{from_text, is_word};

/// A duration as keys take it.
pub(crate) fn text_of(duration: Duration) -> String {
    let millis = duration.as_millis();
    match millis % 1000 {
        0 => format!("\"{}s\"", millis / 1000),
        _ => format!("\"{millis}ms\""),
    }
}

/// A policy and what there is to say about how it was given.
#[derive(Debug, Clone)]
pub(crate) struct Given {
    /// What was written, or the name in the file.
    pub(crate) text: String,
    /// What is known of it; the rest are defaults.
    pub(crate) policy: Policy,
    /// Keys whose value only the compiler or the running program knows, with what was written.
    pub(crate) unknown: Vec<(String, String)>,
    /// `budget = 0.1`.
    pub(crate) share: Option<f64>,
    /// How often one attempt is made, which a `hedge` that is an expression does not tell.
    pub(crate) copies: Option<u32>,
    /// Of `breaker`, `bulkhead`, `throttle`, `hedge`, `retry_after`: those that are given.
    pub(crate) beside: Vec<&'static str>,
    /// What holds besides: retries that are switched off, the function that is out of every policy.
    pub(crate) notes: Vec<String>,
    /// `policy = "storage"`.
    pub(crate) named: Option<String>,
    /// `name = "payments.charge"`.
    pub(crate) operation: Option<String>,
    /// Whether all that is given is a key with a value, so that `policy` is what was meant.
    pub(crate) is_read: bool,
    /// Everything that is wrong with it.
    pub(crate) broken: Vec<Broken>,
}

impl Given {
    /// Whether a strategy says how often and after which delays.
    pub(crate) fn is_decided(&self) -> bool {
        self.unknown.iter().any(|(key, _)| key == "strategy")
    }

    /// A policy that is known, and that nobody wrote down here.
    pub(crate) fn known(text: &str, policy: Policy) -> Self {
        let broken = policy.violations().map(|violation| Broken {
            rule: violation.rule().as_str().to_owned(),
            message: violation.message().to_owned(),
            place: None,
        });
        Self {
            text: text.to_owned(),
            policy,
            unknown: Vec::new(),
            share: None,
            copies: Some(1),
            beside: Vec::new(),
            notes: Vec::new(),
            named: None,
            operation: None,
            is_read: true,
            broken: broken.collect(),
        }
    }
}

/// A rule that is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken {
    /// Its id, or a word where none has one: `syntax`, `type`.
    pub(crate) rule: String,
    pub(crate) message: String,
    /// Bytes of the text.
    pub(crate) place: Option<Range<usize>>,
}

#[cfg(test)]
mod tests;
