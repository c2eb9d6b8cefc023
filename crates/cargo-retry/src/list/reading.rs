//! What is written at one place: read as the macro reads it.

use std::rc::Rc;

use darling::ast::NestedMeta;
use proc_macro2::{TokenStream, TokenTree};
use reattempt_syntax::args;
use reattempt_syntax::block::Block;
use reattempt_syntax::check;
use reattempt_syntax::diagnostics::Diagnostics;
use reattempt_syntax::item::{self, Answer, Flow, Function};
use reattempt_syntax::keys::KEYS;
use reattempt_syntax::model::Model;
use syn::parse::Parser as _;

use crate::code::{File, Place, written};

/// What is written at one place.
pub(crate) struct Reading {
    /// `name = "..."`
    pub(crate) name: Option<String>,
    /// Each key with its value, as written.
    pub(crate) written: Vec<(String, String)>,
    /// Nothing without a fault that leaves nothing else to say.
    pub(crate) model: Option<Model>,
    pub(crate) faults: Vec<Fault>,
    /// The last name of the type of its error, as far as it is written down: `RetryError` also where the body answers
    /// another; `Option` for such an answer.
    pub(crate) error: Option<String>,
    /// Whether an attempt can be cut off.
    pub(crate) is_async: bool,
}

/// Why it would not compile.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) place: Place,
    pub(crate) rule: &'static str,
    pub(crate) message: String,
}

impl Reading {
    /// `#[retry(...)]` on a function.
    pub(crate) fn of_function(
        file: &Rc<File>,
        arguments: TokenStream,
        function: Option<&Function>,
    ) -> Self {
        let mut faults = Diagnostics::default();
        let keys = args::items.parse2(arguments.clone()).unwrap_or_default();
        let args = args::parse(arguments, &mut faults);
        let name = args.operation().map(ToOwned::to_owned);
        let mut error = None;
        let (model, is_async) = match function {
            Some(function) => {
                let (flow, answer) = item::flow(&function.signature);
                let answer = answer.as_ref().map_or(Answer::Inferred, Answer::of);
                let model = check::function(args, function, &answer, &flow, &mut faults);
                error = named_error(&answer);
                (model, !matches!(flow, Flow::Sync))
            }
            None => (check::block(args, true, None, &mut faults), true),
        };
        Self {
            name,
            error,
            is_async,
            ..Self::new(file, &keys, Some(model), &faults)
        }
    }

    /// `retry_block!(...)`, and its body.
    pub(crate) fn of_block(file: &Rc<File>, tokens: TokenStream) -> (Self, TokenStream) {
        match Block::read(tokens.clone()) {
            Ok(Block { items, body }) => {
                let mut faults = Diagnostics::default();
                let args = args::from_items(items.clone(), KEYS, &mut Diagnostics::default());
                let model = Block::check(items.clone(), &body, &mut faults);
                let reading = Self {
                    name: args.operation().map(ToOwned::to_owned),
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
        // Its body is no part of the policy.
        if Block::read(tokens.clone()).is_ok() {
            return Self::of_block(file, tokens).0;
        }
        if mentions_parameter(tokens.clone()) {
            let written = vec![(String::new(), written(&tokens))];
            return Self {
                written,
                ..Self::new(file, &[], None, &Diagnostics::default())
            };
        }
        Self::of_function(file, tokens, None)
    }

    fn new(
        file: &Rc<File>,
        keys: &[NestedMeta],
        model: Option<Model>,
        faults: &Diagnostics,
    ) -> Self {
        let faults = faults.as_slice().iter().map(|fault| Fault {
            place: Place::of(file, fault.span()),
            rule: fault.rule().as_str(),
            message: fault.message().to_owned(),
        });
        Self {
            name: None,
            written: keys.iter().filter_map(key).collect(),
            model,
            faults: faults.collect(),
            error: None,
            is_async: false,
        }
    }

    /// What stands at `key`.
    pub(crate) fn key(&self, key: &str) -> Option<&str> {
        let found = self.written.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value.as_str())
    }
}

fn named_error(answer: &Answer) -> Option<String> {
    match answer {
        Answer::RetryError(..) => Some("RetryError".to_owned()),
        Answer::Option(_) => Some("Option".to_owned()),
        _ => answer.error_name(),
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
