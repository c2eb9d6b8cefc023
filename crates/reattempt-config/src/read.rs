//! The tables of a file: values of figment -> layers, or what is wrong with each key. Nothing stops at a fault.

use std::collections::BTreeMap;

use figment::value::{Dict, Value};
use figment::{Error, Figment};

use super::diagnostic::{ConfigError, Diagnostic};
use super::file::{self, File, Places};
use super::layer::Draft;
use super::reader::Reader;
use super::span::{self, Place};
use super::{Config, DEFAULT, ENABLED, Listed, OPERATIONS, POLICIES, POLICY, TOP};
use reattempt_policy::written::{Name, Word as _, nearest, policy_name, unknown};
use retry_runtime::rules::{Key, RuleId};

/// The keys of an operation that are none of a policy.
const OF_OPERATION: &[&str] = &[POLICY, ENABLED];

/// What others write at the top, and what it is here.
const FOREIGN: &[(&str, &str)] = &[
    ("policy", POLICIES),
    ("retry", POLICIES),
    ("retries", POLICIES),
    ("profiles", POLICIES),
    ("configs", POLICIES),
    ("ops", OPERATIONS),
    ("instances", OPERATIONS),
    ("functions", OPERATIONS),
    ("methods", OPERATIONS),
];

/// What others call the table of what holds for all operations.
const FOR_ALL: &[&str] = &["default", "defaults", "global", "common", "all"];

const FOR_ALL_HERE: &str = "what holds for all operations is a policy; write `[policies.standard]` and its keys below it, and `default = \"standard\"` above all tables";

/// Reads what `figment` has; `files` are the texts in it that are at hand, `faults` what is known to be wrong.
pub(super) fn config(
    figment: &Figment,
    files: Vec<File>,
    mut faults: Vec<Diagnostic>,
) -> Result<Config, ConfigError> {
    let top = match figment.find_value("") {
        Ok(Value::Dict(_, top)) => top,
        Ok(_) => Dict::new(),
        Err(error) => {
            faults.extend(error.into_iter().map(|error| unreadable(&error)));
            return Err(ConfigError::new(faults));
        }
    };
    let mut reader = Reader {
        places: Places::new(figment, files),
        faults,
        path: Vec::new(),
    };
    let drafts = reader.top(&top);
    reader.judge(&drafts);
    if reader.faults.is_empty() {
        Ok(drafts.finished())
    } else {
        Err(ConfigError::new(reader.faults))
    }
}

/// What a provider could not give. If it is a file of TOML, it is read once more for the line.
fn unreadable(error: &Error) -> Diagnostic {
    let source = error.metadata.as_ref().map(file::source);
    let source = source.unwrap_or_else(|| "configuration".to_owned());
    let path = error.metadata.as_ref().and_then(file::file);
    if let Some(path) = path {
        let file = super::text_of(path, &source).and_then(|text| File::parse(&source, &text));
        if let Err(fault) = file {
            return fault;
        }
    }
    let said = error.kind.to_string().trim().replace('\n', "; ");
    let message = format!("{said}; fix the source");
    Diagnostic::new(
        Place::of(source),
        error.path.join("."),
        RuleId::Syntax,
        message,
    )
}

/// What the tables give, before the rules.
#[derive(Default)]
pub(super) struct Drafts {
    enabled: Option<bool>,
    pub(super) default: Option<String>,
    pub(super) policies: BTreeMap<String, Draft>,
    pub(super) operations: BTreeMap<String, Operation>,
}

pub(super) struct Operation {
    pub(super) policy: Option<String>,
    enabled: Option<bool>,
    pub(super) draft: Draft,
}

impl Drafts {
    fn finished(self) -> Config {
        let operation = |(name, operation): (String, Operation)| {
            let listed = Listed {
                policy: operation.policy,
                layer: operation.draft.layer(),
                enabled: operation.enabled.unwrap_or(true),
            };
            (name, listed)
        };
        let policies = self.policies.into_iter();
        Config {
            enabled: self.enabled.unwrap_or(true),
            default: self.default,
            policies: policies
                .map(|(name, draft)| (name, draft.layer()))
                .collect(),
            operations: self.operations.into_iter().map(operation).collect(),
        }
    }
}

fn is_key(word: &str) -> bool {
    Key::ALL.iter().any(|known| known.as_str() == word)
}

/// What is said of a key of a policy that stands above the tables of policies.
fn below_a_table(key: &str) -> String {
    format!(
        "`{key}` is a key of a policy; write it below `[policies.standard]` or `[operations.\"payments.charge\"]`"
    )
}

impl Reader<'_> {
    fn top(&mut self, top: &Dict) -> Drafts {
        let mut drafts = Drafts::default();
        for (key, value) in top {
            self.within(key, |this| match &**key {
                ENABLED => drafts.enabled = this.take(value),
                DEFAULT => drafts.default = this.name(value),
                POLICIES => this.each(
                    value,
                    "[policies.standard]",
                    wrong_policy,
                    |this, name, value| {
                        let draft = this.policy(value);
                        drafts.policies.insert(name.to_owned(), draft);
                    },
                ),
                OPERATIONS => {
                    let example = "[operations.\"payments.charge\"]";
                    this.each(value, example, wrong_operation, |this, name, value| {
                        let operation = this.operation(value);
                        drafts.operations.insert(name.to_owned(), operation);
                    });
                }
                _ => this.unknown_top(key, value),
            });
        }
        self.references(&drafts, top);
        drafts
    }

    fn unknown_top(&mut self, key: &str, value: &Value) {
        let foreign = FOREIGN.iter().find(|(theirs, _)| *theirs == key);
        let message = if FOR_ALL.contains(&key) && matches!(value, Value::Dict(..)) {
            format!("unknown key `{key}`; {FOR_ALL_HERE}")
        } else if let Some((_, ours)) = foreign {
            format!("unknown key `{key}`; it is called `{ours}` here")
        } else if nearest(key, TOP).is_some() {
            unknown(key, None, TOP)
        } else if is_key(key) {
            below_a_table(key)
        } else if matches!(value, Value::Dict(_, table) if !table.is_empty()) {
            let is_bare = |it: char| it.is_ascii_alphanumeric() || "_-".contains(it);
            let name = if key.chars().all(is_bare) {
                key.to_owned()
            } else {
                format!("{key:?}")
            };
            format!(
                "unknown key `{key}`; the table of a policy is `[policies.{name}]`, that of one operation `[operations.{name}]`"
            )
        } else {
            unknown(key, None, TOP)
        };
        self.fault(value.tag(), RuleId::R15, message);
    }

    /// Each table of a table of names.
    fn each(
        &mut self,
        value: &Value,
        example: &str,
        wrong: fn(&str) -> Option<String>,
        mut read: impl FnMut(&mut Self, &str, &Value),
    ) {
        let Some(tables) = self.table(value, example) else {
            return;
        };
        for (name, value) in tables {
            self.within(name, |this| {
                if is_key(name) && !matches!(value, Value::Dict(..)) {
                    return this.fault(value.tag(), RuleId::R15, below_a_table(name));
                }
                if let Some(wrong) = wrong(name) {
                    let message = format!("{wrong}; write `{example}`");
                    this.fault(value.tag(), RuleId::R14, message);
                }
                read(this, name, value);
            });
        }
    }

    /// A table of `[policies]`.
    fn policy(&mut self, value: &Value) -> Draft {
        let mut draft = Draft::new(&self.path, value.tag());
        let path = span::shown(&self.path);
        for (key, value) in self
            .table(value, &format!("[{path}]"))
            .into_iter()
            .flatten()
        {
            self.within(key, |this| this.key(key, value, &mut draft, &[]));
        }
        draft
    }

    /// A table of `[operations]`.
    fn operation(&mut self, value: &Value) -> Operation {
        let mut operation = Operation {
            policy: None,
            enabled: None,
            draft: Draft::new(&self.path, value.tag()),
        };
        let path = span::shown(&self.path);
        for (key, value) in self
            .table(value, &format!("[{path}]"))
            .into_iter()
            .flatten()
        {
            self.within(key, |this| match &**key {
                ENABLED => operation.enabled = this.take(value),
                POLICY => operation.policy = this.name(value),
                _ => this.key(key, value, &mut operation.draft, OF_OPERATION),
            });
        }
        operation
    }

    /// The name of a policy.
    fn name(&mut self, value: &Value) -> Option<String> {
        match value {
            Value::String(_, name) => Some(name.clone()),
            Value::Char(_, name) => Some(name.to_string()),
            Value::Dict(..) if self.path == [DEFAULT] => {
                let message = format!("`default` is the name of a policy; {FOR_ALL_HERE}");
                self.fault(value.tag(), RuleId::Type, message);
                None
            }
            _ => {
                let key = self.path.last().map(String::as_str).unwrap_or_default();
                let message =
                    format!("expected the name of a policy; write `{key} = \"standard\"`");
                self.fault(value.tag(), RuleId::Type, message);
                None
            }
        }
    }
}

/// What is wrong with the name of a policy.
fn wrong_policy(name: &str) -> Option<String> {
    let (wrong, _) = policy_name(name).err()?;
    Some(format!("the name of a policy {wrong}"))
}

/// What is wrong with the name of an operation.
fn wrong_operation(name: &str) -> Option<String> {
    if name.contains('*') {
        return Some(String::from(
            "`*` stands for no names: each operation has a table of its own, and what holds for all is the policy that `default` names",
        ));
    }
    if matches!(Name::from_text(name), Some(Ok(_))) {
        return None;
    }
    Some(String::from(if name.is_empty() {
        "a name must not be empty"
    } else {
        "a name has no spaces or control characters"
    }))
}
