//! The policy of a place: read as the macro reads it, then with what constants and a configuration say.

use std::error::Error;
use std::path::Path;
use std::rc::Rc;

use darling::ast::NestedMeta;
use proc_macro2::{TokenStream, TokenTree};
use retry_runtime::Policy;
use retry_runtime::config::Config;
use retry_runtime::rules::{Key, Keys, Rule};
use retry_syntax::args::{self, Args, Given};
use retry_syntax::block::Block;
use retry_syntax::check;
use retry_syntax::faults::Faults;
use retry_syntax::item::{self, Answer, Flow, Function};
use retry_syntax::keys::KEYS;
use retry_syntax::literal::Name;
use retry_syntax::model::Model;
use syn::Expr;
use syn::parse::Parser as _;

use super::values::{Constants, Standing, Value, with};
use crate::code::{File, Place, written};

/// What is written at one place.
pub(crate) struct Reading {
    /// `name = "..."`
    pub(crate) name: Option<String>,
    /// Each key with its value, as written.
    pub(crate) written: Vec<(String, String)>,
    /// Nothing without a fault that leaves nothing else to say.
    model: Option<Model>,
    pub(crate) faults: Vec<Fault>,
    /// Whether an attempt can be cut off.
    pub(crate) is_async: bool,
}

/// Why it would not compile.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) place: Place,
    pub(crate) rule: Option<&'static str>,
    pub(crate) message: String,
}

impl Reading {
    /// `#[retry(...)]` on a function.
    pub(crate) fn of_function(
        file: &Rc<File>,
        arguments: TokenStream,
        function: Option<&Function>,
    ) -> Self {
        let mut faults = Faults::default();
        let keys = args::items.parse2(arguments.clone()).unwrap_or_default();
        let args = args::parse(arguments, &mut faults);
        let name = name(&args);
        let (model, is_async) = match function {
            Some(function) => {
                let (flow, answer) = item::flow(&function.signature);
                let answer = answer.as_ref().map_or(Answer::Inferred, Answer::of);
                let model = check::function(args, function, &answer, &flow, &mut faults);
                (model, !matches!(flow, Flow::Sync))
            }
            None => (check::block(args, true, None, &mut faults), true),
        };
        Self {
            name,
            is_async,
            ..Self::new(file, &keys, Some(model), &faults)
        }
    }

    /// `retry_block!(...)`, and its body.
    pub(crate) fn of_block(file: &Rc<File>, tokens: TokenStream) -> (Self, TokenStream) {
        match Block::read(tokens.clone()) {
            Ok(Block { items, body }) => {
                let mut faults = Faults::default();
                let args = args::from_items(items.clone(), KEYS, &mut Faults::default());
                let model = Block::check(items.clone(), &body, &mut faults);
                let reading = Self {
                    name: name(&args),
                    is_async: body.asynchronous,
                    ..Self::new(file, &items, Some(model), &faults)
                };
                (reading, body.statements.stream())
            }
            Err(faults) => (Self::new(file, &[], None, &faults), tokens),
        }
    }

    /// In the rules of a macro, where `$max` may stand for anything.
    pub(crate) fn of_rules(file: &Rc<File>, tokens: TokenStream) -> Self {
        if mentions_parameter(tokens.clone()) {
            let written = vec![(String::new(), written(&tokens))];
            return Self {
                written,
                ..Self::new(file, &[], None, &Faults::default())
            };
        }
        match Block::read(tokens.clone()) {
            Ok(_) => Self::of_block(file, tokens).0,
            Err(_) => Self::of_function(file, tokens, None),
        }
    }

    fn new(file: &Rc<File>, keys: &[NestedMeta], model: Option<Model>, faults: &Faults) -> Self {
        let faults = faults.iter().map(|fault| Fault {
            place: Place::of(file, fault.span()),
            rule: Some(fault.entry().id()),
            message: fault.message().to_owned(),
        });
        Self {
            name: None,
            written: keys.iter().filter_map(key).collect(),
            model,
            faults: faults.collect(),
            is_async: false,
        }
    }

    /// What stands at `key`.
    pub(crate) fn key(&self, key: &str) -> Option<&str> {
        let found = self.written.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value.as_str())
    }

    /// The policy that holds, as far as it is known before the program runs.
    pub(crate) fn effective(
        &self,
        operation: &str,
        constants: &Constants<'_>,
        at: Standing<'_>,
        configuration: Option<&Config>,
    ) -> Option<Effective> {
        let model = self.model.as_ref()?;
        let mut effective = Effective {
            policy: model.known,
            unknown: Keys::NONE,
            inherited: None,
            label: None,
            violations: Vec::new(),
        };
        let mut is_literal = true;
        for setting in model
            .settings
            .iter()
            .filter(|setting| setting.expression.is_some())
        {
            is_literal = false;
            let value = syn::parse2::<Expr>(setting.value.clone()).ok();
            let value = value.and_then(|expr| constants.value(&expr, at));
            match value.and_then(|value| with(effective.policy, setting.key.word(), value)) {
                Some(policy) => effective.policy = policy,
                None => effective.unknown = effective.unknown.with(setting.key),
            }
        }
        if let Some(inherited) = &model.inherited {
            is_literal = false;
            match constants.value(&inherited.expr, at) {
                Some(Value::Policy(base)) => {
                    effective.policy = base.overridden_by(&effective.policy);
                }
                _ => effective.inherited = Some(written(&inherited.expr)),
            }
        }
        if let Some(named) = &model.named {
            let named = named.value();
            match configuration {
                Some(configuration) if configuration.policy(&named).is_some() => {
                    let resolved = configuration.resolve(operation, &named, &effective.policy);
                    let label = resolved.label.to_owned();
                    effective.policy = if resolved.enabled {
                        resolved.policy
                    } else {
                        resolved.policy.max(1)
                    };
                    effective.label = Some(label);
                }
                _ => effective.inherited = Some(format!("\"{named}\"")),
            }
        }
        if !is_literal && effective.inherited.is_none() {
            let known = Rule::ALL
                .iter()
                .filter(|rule| !rule.reads().touches(effective.unknown));
            let broken = known.filter_map(|rule| rule.check(&effective.policy));
            effective.violations = broken
                .map(|it| (it.rule().id(), it.message().to_owned()))
                .collect();
        }
        Some(effective)
    }
}

/// The policy of a place, and what of it is not known.
pub(crate) struct Effective {
    pub(crate) policy: Policy,
    /// Keys whose value only the compiler or the running program knows.
    unknown: Keys,
    /// The policy that the keys override, where its values are not known.
    pub(crate) inherited: Option<String>,
    /// The name of the policy in the configuration that holds.
    pub(crate) label: Option<String>,
    /// Rules that constants break: ids and messages.
    pub(crate) violations: Vec<(&'static str, String)>,
}

impl Effective {
    pub(crate) fn knows(&self, key: Key) -> bool {
        self.inherited.is_none() && !self.unknown.contains(key)
    }

    /// Whether all that the delays depend on is known.
    pub(crate) fn knows_delays(&self) -> bool {
        use Key::{Backoff, Base, Cap, Factor, FastFirst, First, Jitter};
        [Backoff, Base, Cap, Factor, FastFirst, First, Jitter]
            .into_iter()
            .all(|key| self.knows(key))
    }

    /// Keys whose value is not known.
    pub(crate) fn unknown(&self) -> impl Iterator<Item = Key> {
        Key::ALL
            .into_iter()
            .filter(|key| self.unknown.contains(*key))
    }
}

fn name(args: &Args) -> Option<String> {
    match &args.name.as_ref()?.given {
        Given::Literal(Name(name), _) => Some(name.clone()),
        _ => None,
    }
}

fn key(item: &NestedMeta) -> Option<(String, String)> {
    let NestedMeta::Meta(meta) = item else {
        return None;
    };
    let key = written(meta.path());
    let value = match meta {
        syn::Meta::Path(_) => "true".to_owned(),
        syn::Meta::List(list) => written(&list.tokens),
        syn::Meta::NameValue(pair) => written(&pair.value),
    };
    Some((key, value))
}

fn mentions_parameter(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Punct(sign) => sign.as_char() == '$',
        TokenTree::Group(group) => mentions_parameter(group.stream()),
        _ => false,
    })
}

/// The configuration: a file that is named, or the one that lies at the root.
pub(crate) fn configuration(
    named: Option<&Path>,
    root: &Path,
) -> Result<Option<Config>, Box<dyn Error>> {
    let usual = root.join("retry.toml");
    let file = match named {
        Some(file) => file,
        None if usual.is_file() => &usual,
        None => return Ok(None),
    };
    // As the file says: the environment here is not that of the service.
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    let config = Config::from_text(&file.display().to_string(), &text, [])?;
    Ok(Some(config))
}
