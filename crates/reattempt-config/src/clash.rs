//! A rule that the values of a file break together with the keys in the code.

use core::slice;

use super::diagnostic::Diagnostic;
use super::file::File;
use super::span::Place;
use super::{OPERATIONS, POLICIES};
use retry_runtime::rules::{Key, Keys, Rule, Violation};

/// What was read, for the lines of faults that are found later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) name: String,
    pub(super) text: String,
}

/// The fault of an operation under the policy `label`: at the key that is blamed if the file has it, else at another that
/// the rule reads, else at the table of the operation or of the policy.
pub(super) fn fault(
    read: Option<&Read>,
    operation: &str,
    label: &str,
    violation: &Violation,
) -> Diagnostic {
    let file = read.and_then(|read| File::parse(&read.name, &read.text).ok());
    let tables = [(OPERATIONS, operation), (POLICIES, label)];
    let tables = tables.map(|(kind, name)| vec![kind.to_owned(), name.to_owned()]);
    let reads = Rule::named(violation.rule()).map_or(Keys::NONE, Rule::keys);
    let others = Key::ALL.into_iter().filter(|key| reads.contains(*key));
    let keys = violation.key().into_iter().chain(others).flat_map(|key| {
        let word = key.as_str().to_owned();
        tables
            .each_ref()
            .map(|table| [&**table, slice::from_ref(&word)].concat())
    });
    let mut paths = keys.chain(tables.iter().cloned());
    let found = paths.find_map(|path| Some((file.as_ref()?.find(&path)?, path)));
    let (place, path) = found.unwrap_or_else(|| {
        let name = read.map_or("configuration", |read| &*read.name);
        let [operation, _] = tables.clone();
        (Place::of(name), operation)
    });
    let path = super::span::shown(&path);
    let message = format!(
        "{} (together with the keys in the code of `{operation}`)",
        violation.message()
    );
    Diagnostic::new(place, path, violation.rule(), message)
}
