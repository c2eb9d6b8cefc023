//! A text and the environment as providers of figment.

use figment::providers::{Format as _, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Error, Figment, Metadata, Profile, Provider};

use super::{DEFAULT, ENABLED, TOP};
use crate::words::nearest;

const PREFIX: &str = "REATTEMPT_";

/// Between the levels of a key, because names have `_` and `.` in them.
const LEVEL: &str = "__";

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

/// `figment` with `variables` over it, as far as they are ours.
pub(super) fn over(
    figment: Figment,
    variables: impl IntoIterator<Item = (String, String)>,
) -> Figment {
    let mut ours: Vec<_> = variables
        .into_iter()
        .filter_map(|(name, value)| {
            let path = path(&name)?;
            let value = read(value);
            Some(Variable { name, path, value })
        })
        .collect();
    // The order of the environment is nobody's choice.
    ours.sort_by(|a, b| a.name.cmp(&b.name));
    ours.into_iter()
        .fold(figment, |figment, variable| figment.merge(variable))
}

/// The key that a variable sets. One level that is neither ours nor nearly so is another's variable, such as one of
/// a test's own.
fn path(name: &str) -> Option<Vec<String>> {
    let key = name.strip_prefix(PREFIX)?.to_lowercase();
    let path: Vec<_> = key.split(LEVEL).map(str::to_owned).collect();
    let is_ours =
        key.contains(LEVEL) || TOP.contains(&&*key) || nearest(&key, &[ENABLED, DEFAULT]).is_some();
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
