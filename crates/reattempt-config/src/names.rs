//! Names that do not match: policies that code asks for and the configuration does not have, operations of the
//! configuration that nothing has run as.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

use super::span;
use super::{Config, DEFAULT, POLICIES};
use reattempt_policy::written::nearest;
use retry_runtime::slots::NamedPolicy;

/// A policy that code asks for by name, and that the configuration does not have: the keys in the code hold.
///
/// `Display` says so, with the fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingPolicy {
    name: &'static str,
    nearest: Option<String>,
}

impl MissingPolicy {
    /// Returns the name in the code.
    pub const fn name(&self) -> &str {
        self.name
    }

    /// Returns the policy of the configuration that is most likely meant.
    pub fn nearest(&self) -> Option<&str> {
        self.nearest.as_deref()
    }

    /// The policy that `site` misses in `config`. An operation that has another one there misses none, nor does `default`,
    /// which may be asked for only to be listed.
    fn of(site: &NamedPolicy, config: &Config) -> Option<Self> {
        let (operation, name) = (site.operation(), site.named());
        let listed = config.operations.get(operation);
        let is_given = listed.is_some_and(|listed| listed.policy.is_some());
        if is_given || name == DEFAULT || config.policies.contains_key(name) {
            return None;
        }
        let names: Vec<_> = config.policies.keys().map(|name| &**name).collect();
        let nearest = nearest(name, &names).map(str::to_owned);
        Some(Self { name, nearest })
    }
}

impl fmt::Display for MissingPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name;
        write!(
            f,
            "no policy \"{name}\" is configured, so the keys in the code hold; "
        )?;
        if let Some(near) = &self.nearest {
            return write!(f, "did you mean \"{near}\"?");
        }
        let table = span::shown(&[POLICIES.to_owned(), name.to_owned()]);
        write!(f, "write `[{table}]`")
    }
}

/// The policies that sites miss, each once, in the order of their names.
pub(super) fn missing(sites: &[&'static NamedPolicy], config: &Config) -> Vec<MissingPolicy> {
    let missing = sites
        .iter()
        .filter_map(|site| MissingPolicy::of(site, config));
    let missing: BTreeMap<_, _> = missing.map(|missing| (missing.name, missing)).collect();
    missing.into_values().collect()
}

/// The operations of `config` that no site has the name of.
pub(super) fn unused(sites: &[&'static NamedPolicy], config: &Config) -> Vec<String> {
    let known: BTreeSet<_> = sites.iter().map(|site| site.operation()).collect();
    let unused = config.operations().filter(|name| !known.contains(name));
    unused.map(str::to_owned).collect()
}

/// The operations whose policy has a `timeout` that is not applied, each once, in the order of their names.
pub(super) fn ignored_timeouts(sites: &[&'static NamedPolicy]) -> Vec<&'static str> {
    let sites = sites.iter().filter(|site| site.ignores_timeout());
    let names: BTreeSet<_> = sites.map(|site| site.operation()).collect();
    names.into_iter().collect()
}

/// What an operator does not see by what the program does.
enum Warning {
    Missing(&'static str, MissingPolicy),
    /// An operation of the configuration, and the one that is most likely meant.
    Unused(String, Option<&'static str>),
    IgnoredTimeout(&'static str),
}

impl Warning {
    fn operation(&self) -> &str {
        match self {
            Self::Missing(operation, _) | Self::IgnoredTimeout(operation) => operation,
            Self::Unused(operation, _) => operation,
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(_, missing) => missing.fmt(f),
            Self::Unused(name, nearest) => {
                write!(f, "no operation \"{name}\" has asked for its policy yet; ")?;
                match nearest {
                    Some(near) => write!(f, "did you mean \"{near}\"?"),
                    None => f.write_str(
                        "code that a file is to change has `policy = \"default\"`, or the name of a policy",
                    ),
                }
            }
            Self::IgnoredTimeout(_) => f.write_str(
                "the `timeout` of its policy is not applied: nothing interrupts a sync function, nor one with `cut_off = false`",
            ),
        }
    }
}

/// What is to be said of operations once no lock is held, as a subscriber may ask for anything.
#[derive(Default)]
pub(super) struct Warnings(Vec<Warning>);

impl Warnings {
    /// About sites that have their policy of `config` now.
    pub(super) fn of(sites: &[&'static NamedPolicy], config: &Config) -> Self {
        let missing = sites.iter().filter_map(|site| {
            let missing = MissingPolicy::of(site, config)?;
            Some(Warning::Missing(site.operation(), missing))
        });
        let ignored = ignored_timeouts(sites).into_iter();
        Self(
            missing
                .chain(ignored.map(Warning::IgnoredTimeout))
                .collect(),
        )
    }

    /// Adds the operations of `config` that no site has the name of.
    pub(super) fn and_unused(mut self, sites: &[&'static NamedPolicy], config: &Config) -> Self {
        let known: Vec<_> = sites.iter().map(|site| site.operation()).collect();
        let unused = unused(sites, config).into_iter().map(|name| {
            let near = nearest(&name, &known);
            Warning::Unused(name, near)
        });
        self.0.extend(unused);
        self
    }

    /// Keeps what was not said before. A missing policy is said at each load.
    pub(super) fn once(mut self, said: &mut BTreeSet<String>) -> Self {
        self.0.retain(|warning| match warning {
            Warning::Missing(..) => true,
            Warning::Unused(..) | Warning::IgnoredTimeout(_) => {
                said.insert(format!("{}: {warning}", warning.operation()))
            }
        });
        self
    }

    pub(super) fn say(self) {
        for warning in self.0 {
            #[cfg(feature = "tracing")]
            tracing::warn!(target: "reattempt", operation = warning.operation(), "{warning}");
            #[cfg(not(feature = "tracing"))]
            let _ = warning;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_match_is_said_with_the_fix() {
        let missing = |nearest: Option<&str>| MissingPolicy {
            name: "my storage",
            nearest: nearest.map(str::to_owned),
        };
        let near = missing(Some("storage"));
        assert_eq!(
            (near.name(), near.nearest()),
            ("my storage", Some("storage"))
        );
        assert_eq!(missing(None).nearest(), None);
        for (warning, operation, text) in [
            (
                Warning::Missing("pay", near),
                "pay",
                "no policy \"my storage\" is configured, so the keys in the code hold; did you mean \"storage\"?",
            ),
            (
                Warning::Missing("pay", missing(None)),
                "pay",
                "no policy \"my storage\" is configured, so the keys in the code hold; write `[policies.\"my storage\"]`",
            ),
            (
                Warning::Unused("pai".to_owned(), Some("pay")),
                "pai",
                "no operation \"pai\" has asked for its policy yet; did you mean \"pay\"?",
            ),
            (
                Warning::Unused("pai".to_owned(), None),
                "pai",
                "no operation \"pai\" has asked for its policy yet; code that a file is to change has `policy = \"default\"`, or the name of a policy",
            ),
            (
                Warning::IgnoredTimeout("pay"),
                "pay",
                "the `timeout` of its policy is not applied: nothing interrupts a sync function, nor one with `cut_off = false`",
            ),
        ] {
            assert_eq!(
                (warning.operation(), warning.to_string()),
                (operation, text.to_owned())
            );
            // A missing policy is said at each load.
            let is_missing = matches!(warning, Warning::Missing(..));
            let mut said = BTreeSet::from([format!("{operation}: {text}")]);
            let left = Warnings(vec![warning]).once(&mut said).0.len();
            assert_eq!(left, usize::from(is_missing));
        }
        let mut said = BTreeSet::new();
        let twice = [(); 2].map(|()| Warning::IgnoredTimeout("pay"));
        let left = Warnings(twice.into()).once(&mut said).0.len();
        assert_eq!((left, said.len()), (1, 1));
    }
}
