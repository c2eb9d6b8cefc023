//! The names of environment variables: how a key is written as one, and what was meant by one that has no levels.

use figment::value::Value;

use super::{ENABLED, OPERATIONS, POLICIES, POLICY};
use retry_runtime::rules::Key;

pub(super) const PREFIX: &str = "REATTEMPT_";

/// Between the levels of a key, because names have `_` and `.` in them.
pub(super) const LEVEL: &str = "__";

/// The variable that sets the key at `path`.
pub(super) fn named(path: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let levels = path.into_iter().map(|level| level.as_ref().to_uppercase());
    let levels: Vec<_> = levels.collect();
    format!("{PREFIX}{}", levels.join(LEVEL))
}

/// What was most likely meant by a variable whose levels are not separated; `None` for any other.
///
/// `policies_storage_max`, `policies__storage_max` and `max` are no keys, but nearly so.
pub(super) fn separated(key: &str, value: &Value) -> Option<String> {
    if is_key(key) {
        return Some(named([POLICIES, "standard", key]));
    }
    for kind in [POLICIES, OPERATIONS] {
        let Some(rest) = key.strip_prefix(kind) else {
            continue;
        };
        // A table in place of a key is reported as one.
        let (rest, is_level) = match rest.strip_prefix(LEVEL) {
            Some(rest) if rest.contains(LEVEL) || matches!(value, Value::Dict(..)) => return None,
            Some(rest) => (rest, true),
            None => (rest.strip_prefix('_')?, false),
        };
        let meant = match rest.split_once(LEVEL) {
            // The key is separated already.
            Some((name, key)) => Some((name, key)),
            None => name_and_key(kind, rest),
        };
        return match meant {
            Some((name, key)) => Some(named([kind, name, key])),
            None if is_level => None,
            None => Some(named([kind, "name", "key"])),
        };
    }
    None
}

/// `variable` with the levels of a name that has dots in it as one: `REATTEMPT_OPERATIONS__PAYMENTS.CHARGE__MAX`.
pub(super) fn joined(variable: &str, kind: &str, name: &[&str]) -> String {
    let key = variable.strip_prefix(PREFIX).unwrap_or(variable);
    let below = key.split(LEVEL).skip(name.len().saturating_add(1));
    let name = name.join(".");
    named([kind, &name].into_iter().chain(below))
}

/// The variable of a key in the table at `path`, in place of one with this value for the table as a whole.
pub(super) fn below(path: &[String], value: &Value) -> String {
    let said = value.as_str().unwrap_or_default();
    let (key, value) = match (said.split_once('='), path) {
        // `max=7`, as if it was a file.
        (Some((key, value)), _) if is_key(key.trim()) => (key.trim(), value.trim()),
        (None, [kind, _]) if kind == OPERATIONS && !said.is_empty() => (POLICY, said),
        _ => (Key::Max.as_str(), "3"),
    };
    let levels: Vec<_> = match path {
        [kind] => vec![kind, "standard", key],
        path => path.iter().map(String::as_str).chain([key]).collect(),
    };
    format!("{}={value}", named(levels))
}

fn is_key(word: &str) -> bool {
    Key::from_name(word).is_some()
}

/// The two parts of `storage_fast_first`: the longest key that it ends with.
fn name_and_key<'a>(kind: &str, text: &'a str) -> Option<(&'a str, &'a str)> {
    let mut parts = text
        .match_indices('_')
        .filter_map(|(at, _)| Some((text.get(..at)?, text.get(at.saturating_add(1)..)?)));
    let is_of_kind =
        |key: &str| is_key(key) || (kind == OPERATIONS && [POLICY, ENABLED].contains(&key));
    parts.find(|(name, key)| !name.is_empty() && is_of_kind(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_without_levels_has_a_fix() {
        for (key, fix) in [
            ("max", Some("POLICIES__STANDARD__MAX")),
            ("policies_storage_max", Some("POLICIES__STORAGE__MAX")),
            (
                "policies_storage_fast_first",
                Some("POLICIES__STORAGE__FAST_FIRST"),
            ),
            ("policies__storage_max", Some("POLICIES__STORAGE__MAX")),
            ("policies_storage__max", Some("POLICIES__STORAGE__MAX")),
            ("policies_storage", Some("POLICIES__NAME__KEY")),
            ("policies_max", Some("POLICIES__NAME__KEY")),
            ("operations_pay_enabled", Some("OPERATIONS__PAY__ENABLED")),
            ("operations_pay_policy", Some("OPERATIONS__PAY__POLICY")),
            ("policies_pay_enabled", Some("POLICIES__NAME__KEY")),
            ("policies__storage__max", None),
            ("policies__storage", None),
            ("policiesx", None),
            ("other", None),
        ] {
            let fix = fix.map(|fix| format!("{PREFIX}{fix}"));
            assert_eq!(separated(key, &Value::from(3)), fix, "{key}");
        }
        let table = Value::from(figment::value::Dict::new());
        assert_eq!(separated("policies__storage_max", &table), None);
        let variable = "REATTEMPT_OPERATIONS__PAYMENTS__CHARGE__MAX";
        let joined = joined(variable, OPERATIONS, &["payments", "charge"]);
        assert_eq!(joined, "REATTEMPT_OPERATIONS__PAYMENTS.CHARGE__MAX");
    }

    #[test]
    fn a_table_is_set_key_by_key() {
        for (path, value, fix) in [
            (&["policies"][..], "7", "POLICIES__STANDARD__MAX=3"),
            (&["policies", "a"], "max = 7", "POLICIES__A__MAX=7"),
            (&["policies", "a"], "x=7", "POLICIES__A__MAX=3"),
            (&["policies", "a"], "storage", "POLICIES__A__MAX=3"),
            (
                &["operations", "a"],
                "storage",
                "OPERATIONS__A__POLICY=storage",
            ),
            (&["operations", "a"], "", "OPERATIONS__A__MAX=3"),
        ] {
            let path: Vec<_> = path.iter().map(ToString::to_string).collect();
            assert_eq!(below(&path, &Value::from(value)), format!("{PREFIX}{fix}"));
        }
    }
}
