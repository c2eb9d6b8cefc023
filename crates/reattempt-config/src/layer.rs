//! The keys of one policy or operation -> a layer.

use figment::value::{Dict, Tag, Value};

use super::budget::{Settings, Written};
use super::reader::{Reader, written};
use super::span::{self, Path};
use super::{ENABLED, POLICY, variable};
use reattempt_policy::written::{self as parse, CODE};
use retry_runtime::rules::{Key, Keys, Kind, RuleId};
use retry_runtime::{KeyValue, Policy};

/// How other files say that one table has the keys of another.
const INHERITS: &[&str] = &["based_on", "extends", "inherit", "inherits", "parent"];

/// A layer, and what the rules and messages need to know of it.
pub(super) struct Draft {
    pub(super) policy: Policy,
    /// The keys whose values are not good: a rule that reads them speaks only if it is broken whatever they are.
    pub(super) wrong: Keys,
    /// The good ones, by where they come from.
    pub(super) keys: Vec<(Key, Tag)>,
    pub(super) path: Vec<String>,
    pub(super) tag: Tag,
    budget: Option<Settings>,
}

impl Draft {
    pub(super) fn new(path: &Path, tag: Tag) -> Self {
        Self {
            policy: Policy::new(),
            wrong: Keys::NONE,
            keys: Vec::new(),
            path: path.to_vec(),
            tag,
            budget: None,
        }
    }

    /// The layer with its budget.
    pub(super) fn layer(&self) -> Policy {
        match &self.budget {
            Some(settings) => self.policy.budget(settings.kept(&span::shown(&self.path))),
            None => self.policy,
        }
    }
}

impl Reader<'_> {
    /// One key of a policy, or of an operation, which has those in `more`, too.
    pub(super) fn key(&mut self, word: &str, value: &Value, draft: &mut Draft, more: &[&str]) {
        let Some(key) = Key::from_name(word) else {
            let (rule, message) = match value {
                // `[operations.payments.charge]` is two tables.
                Value::Dict(..) if is_strange(word) => {
                    (RuleId::R15, self.table_in_table(word, value))
                }
                Value::Dict(_, table) if !CODE.contains(&word) && has_keys(table) => {
                    (RuleId::R15, self.keys_in_table(word))
                }
                _ => unknown(word, as_code(value).as_deref(), more),
            };
            return self.fault(value.tag(), rule, message);
        };
        match self.set(key, value, draft) {
            Some(policy) => {
                draft.policy = policy;
                draft.keys.push((key, value.tag()));
            }
            None => draft.wrong = draft.wrong.with(key),
        }
    }

    /// What to say about a table of keys inside of a policy.
    fn keys_in_table(&self, word: &str) -> String {
        let above = self.path.len().saturating_sub(1);
        let path = span::shown(self.path.get(..above).unwrap_or_default());
        format!("unknown key `{word}`, a table; the keys stand without it, below `[{path}]`")
    }

    /// What to say about a table where a key belongs: a name with dots, without quotes.
    fn table_in_table(&self, word: &str, mut value: &Value) -> String {
        let mut path = self.path.iter();
        let above = path.next().cloned().unwrap_or_default();
        let mut name: Vec<_> = path.map(String::as_str).collect();
        // As deep as it goes, if there is one way.
        while let Value::Dict(_, table) = value
            && table.len() == 1
            && let Some((word, inner @ Value::Dict(..))) = table.first_key_value()
            && is_strange(word)
        {
            name.push(word);
            value = inner;
        }
        let is = format!("unknown key `{word}`, a table");
        if let Some(variable) = self.places.variable(value) {
            let joined = variable::joined(variable, &above, &name);
            return format!("{is}; the dots of a name stay dots, write `{joined}`");
        }
        let path = span::shown(&[above, name.join(".")]);
        format!("{is}; a name with dots stands in quotes, write `[{path}]`")
    }

    fn set(&mut self, key: Key, value: &Value, draft: &mut Draft) -> Option<Policy> {
        let value = match key.kind() {
            Kind::Budget => {
                match self.budget(value)? {
                    Written::Budget(settings) => draft.budget = Some(settings),
                    Written::Nothing => return Some(draft.policy.without_budget()),
                }
                KeyValue::Budget
            }
            Kind::Codes => KeyValue::Codes(self.codes(value)?),
            Kind::Telemetry => KeyValue::Telemetry(self.telemetry(value)?),
            _ => self.sound(value.tag(), written(value, |it| KeyValue::in_file(key, it)))?,
        };
        draft.policy.assign(key, value)
    }
}

/// Whether a table has nothing but keys of a policy.
fn has_keys(table: &Dict) -> bool {
    !table.is_empty() && table.keys().all(|it| Key::from_name(it).is_some())
}

/// Whether a word looks like no key at all.
fn is_strange(word: &str) -> bool {
    let ours = Key::ALL.map(Key::as_str);
    let known = CODE.contains(&word) || ours.contains(&word) || parse::foreign(word).is_some();
    !known && parse::nearest(word, &ours).is_none()
}

/// A number or a text, as code has it.
fn as_code(value: &Value) -> Option<String> {
    match value {
        Value::String(_, text) => Some(format!("{text:?}")),
        Value::Num(_, number) => match number.to_i128() {
            Some(number) => Some(number.to_string()),
            None => number.to_f64().map(|it| it.to_string()),
        },
        _ => None,
    }
}

/// What to say about a key that neither policies nor operations have, with this value.
fn unknown(word: &str, value: Option<&str>, more: &[&str]) -> (RuleId, String) {
    let operation = "`[operations.\"payments.charge\"]`";
    if word == POLICY {
        return (
            RuleId::X15,
            format!(
                "a policy is made of keys, not of another policy; drop `policy`, which stands below {operation}"
            ),
        );
    }
    if INHERITS.contains(&word) {
        return (
            RuleId::X15,
            format!(
                "a policy has no policy above it; drop `{word}` and write the keys that differ from the defaults"
            ),
        );
    }
    if word == ENABLED {
        return (
            RuleId::X15,
            format!(
                "`enabled` is of an operation or of the whole file; write it below {operation} or at the top"
            ),
        );
    }
    if let Some(wrong) = parse::in_code_alone(word) {
        return (wrong.rule, wrong.message);
    }
    let of_operation = match word {
        "disabled" | "disable" => Some("write `enabled = false`".to_owned()),
        "policies" => Some(format!("it is called `{POLICY}` here")),
        _ => None,
    };
    if let Some(fix) = of_operation.filter(|_| more.contains(&ENABLED)) {
        return (RuleId::R15, format!("unknown key `{word}`; {fix}"));
    }
    let keys: Vec<_> = Key::ALL.iter().map(|key| key.as_str()).collect();
    let all: Vec<_> = keys.iter().chain(more).copied().collect();
    (RuleId::R15, parse::unknown(word, value, &all))
}
