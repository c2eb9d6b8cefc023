//! A text and the environment as providers of figment.

use figment::providers::{Format as _, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Error, Figment, Metadata, Profile, Provider};

use super::diagnostic::Diagnostic;
use super::span::Place;
use super::variable::{self, LEVEL, PREFIX};
use super::{DEFAULT, ENABLED, TOP};
use reattempt_policy::written::nearest;
use retry_runtime::rules::RuleId;

/// A text of TOML under its own name.
pub(super) struct Text<'a> {
    pub(super) name: &'a str,
    pub(super) text: &'a str,
}

impl Provider for Text<'_> {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.name.to_owned())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        Toml::string(self.text).data()
    }
}

/// One environment variable: each its own provider, so that what is said about it has its name.
struct Variable {
    name: String,
    path: Vec<String>,
    value: Value,
}

impl Provider for Variable {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.name.clone())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        let mut keys = self.path.iter().rev();
        let mut dict = Dict::new();
        if let Some(key) = keys.next() {
            dict.insert(key.clone(), self.value.clone());
        }
        for key in keys {
            dict = Dict::from([(key.clone(), Value::from(dict))]);
        }
        Ok(Map::from([(Profile::Default, dict)]))
    }
}

/// `figment` with `variables` over it, as far as they are ours; and what is wrong with the names of some.
pub(super) fn over(
    figment: Figment,
    variables: impl IntoIterator<Item = (String, String)>,
) -> (Figment, Vec<Diagnostic>) {
    let (mut ours, mut faults) = (Vec::new(), Vec::new());
    for (name, value) in variables {
        let Some(key) = name.strip_prefix(PREFIX).map(str::to_lowercase) else {
            continue;
        };
        let value = read(value);
        if let Some(fix) = variable::separated(&key, &value) {
            let message = format!("levels are separated by `{LEVEL}`; write `{fix}`");
            faults.push(Diagnostic::new(Place::of(name), key, RuleId::R15, message));
        } else if let Some(path) = path(&key) {
            ours.push(Variable { name, path, value });
        }
    }
    // The order of the environment is nobody's choice.
    ours.sort_by(|a, b| a.name.cmp(&b.name));
    faults.sort_by(|a, b| a.source().cmp(b.source()));
    let over = ours.into_iter();
    let figment = over.fold(figment, |figment, variable| figment.merge(variable));
    (figment, faults)
}

/// The key that a variable sets. One level that is neither ours nor nearly so is another's variable, such as one of
/// a test's own.
fn path(key: &str) -> Option<Vec<String>> {
    let path: Vec<_> = key.split(LEVEL).map(str::to_owned).collect();
    let is_ours =
        key.contains(LEVEL) || TOP.contains(&key) || nearest(key, &[ENABLED, DEFAULT]).is_some();
    is_ours.then_some(path)
}

/// A value of TOML, or else the text as it is: `5`, `true`, `{ tokens = 500 }`; `250ms`.
fn read(text: String) -> Value {
    let line = format!("value = {text}");
    match Toml::from_str::<Dict>(&line) {
        Ok(mut dict) if dict.len() == 1 => match dict.remove("value") {
            Some(value) => value,
            None => Value::from(text),
        },
        _ => Value::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_ours_by_its_levels_or_its_name() {
        for (key, levels) in [
            ("policies__a__max", 3),
            ("enabled", 1),
            ("enabld", 1),
            ("default", 1),
            ("policies", 1),
            ("testing", 0),
        ] {
            assert_eq!(path(key).map_or(0, |path| path.len()), levels, "{key}");
        }
    }

    #[test]
    fn a_variable_is_a_value_of_toml_or_a_text() {
        let is_number = |text: &str| matches!(read(text.to_owned()), Value::Num(..));
        assert!(is_number("5") && !is_number("5ms"));
        assert!(matches!(read("true".to_owned()), Value::Bool(_, true)));
        assert!(matches!(
            read("{ tokens = 500 }".to_owned()),
            Value::Dict(..)
        ));
        for text in ["250ms", "1\nother = 2"] {
            assert_eq!(read(text.to_owned()).as_str(), Some(text));
        }
    }

    /// Whatever the order of the environment is.
    #[test]
    fn variables_stand_over_a_file() {
        let variables = [
            ("REATTEMPT_POLICIES__B_MAX", "1"),
            ("REATTEMPT_POLICIES__A_MAX", "1"),
            ("REATTEMPT_POLICIES__A__MAX", "7"),
            ("OTHER_POLICIES__A__MAX", "8"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let (figment, faults) = over(Figment::new(), variables);
        let max = figment.find_value("policies.a.max");
        assert!(matches!(max, Ok(Value::Num(_, max)) if max.to_u128_lossy() == Some(7)));
        let faults: Vec<_> = faults
            .iter()
            .map(|fault| (fault.source(), fault.message()))
            .collect();
        let fix =
            |name| format!("levels are separated by `__`; write `REATTEMPT_POLICIES__{name}__MAX`");
        let (a, b) = (fix("A"), fix("B"));
        assert_eq!(
            faults,
            [
                ("REATTEMPT_POLICIES__A_MAX", &*a),
                ("REATTEMPT_POLICIES__B_MAX", &*b)
            ]
        );
    }
}
