//! What a configuration comes to for a place in the code, and whether the two go together.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::clash::{self, Read};
use super::{Config, Diagnostic};
use retry_runtime::Policy;
use retry_runtime::rules::Rule;
use retry_runtime::slots::NamedPolicy;

/// What a site is to have.
pub(super) struct Resolution {
    pub(super) policy: Policy,
    pub(super) label: &'static str,
    pub(super) enabled: bool,
}

/// The policy of a site under a configuration, or the rule that the two break together.
pub(super) fn resolve(
    config: Option<&Config>,
    read: Option<&Read>,
    site: &NamedPolicy,
) -> Result<Resolution, Diagnostic> {
    let Some(config) = config else {
        return Ok(Resolution {
            policy: *site.inline(),
            label: site.named(),
            enabled: true,
        });
    };
    let resolved = config.resolve(site.operation(), site.named(), site.inline());
    // A key that has no effect is a slip where it is written, not where another layer overrides what it
    // was for.
    let broken = Rule::ALL
        .iter()
        .filter(|rule| !rule.id().is_about_effects())
        .find_map(|rule| rule.check(resolved.policy.values()));
    match broken {
        None => Ok(Resolution {
            policy: resolved.policy,
            label: label(resolved.label, site),
            enabled: resolved.enabled,
        }),
        Some(violation) => Err(clash::fault(
            read,
            site.operation(),
            resolved.label,
            &violation,
        )),
    }
}

/// A name that lives as long as the process; each is kept once.
fn label(name: &str, site: &NamedPolicy) -> &'static str {
    static NAMES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);

    if name == site.named() {
        return site.named();
    }
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    if let Some(known) = names.get(name) {
        return known;
    }
    let name = &*Box::leak(name.to_owned().into_boxed_str());
    names.insert(name);
    name
}
