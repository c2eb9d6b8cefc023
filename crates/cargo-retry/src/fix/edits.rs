//! The fix that a message names, as changes of the file.

mod moved;

use std::ops::Range;

use proc_macro2::TokenStream;
use syn::spanned::Spanned as _;
use syn::visit::Visit;
use syn::{FnArg, ItemFn, ReturnType, Signature, Stmt, Type};

use super::Edit;
use super::compiler::Fault;
use super::tokens::{self, Item, Keys, byte};
use crate::code::nested::is_deep;
use crate::policy::text_of;

/// Levels of brackets that are read.
const DEEPEST: usize = 500;

/// The changes that fix a fault, if they are known.
pub(super) fn of(fault: &Fault, text: &str) -> Option<Vec<Edit>> {
    let at = byte(text, fault.line, fault.column)?;
    if is_deep(text, DEEPEST) {
        return None;
    }
    let tokens: TokenStream = text.parse().ok()?;
    let mut place = Place {
        fault,
        text,
        at,
        keys: tokens::keys(&tokens, at),
        tokens,
    };
    if place.keys.is_none() {
        place.keys = place.attribute("retry", 0);
    }
    place.by_rule().or_else(|| place.by_words())
}

/// A fault in its file.
struct Place<'a> {
    fault: &'a Fault,
    text: &'a str,
    at: usize,
    tokens: TokenStream,
    /// Those that the fault stands in.
    keys: Option<Keys>,
}

impl Place<'_> {
    /// What the words of the message do not say in code.
    fn by_rule(&self) -> Option<Vec<Edit>> {
        match self.fault.rule.as_str() {
            "moved" | "S6" => self.cloned().or_else(|| self.by_borrow()),
            "R2" | "R17" | "R9" | "D2" => Some(vec![self.token(&self.literal()?)?]),
            "R15" => self.renamed(),
            "R10" | "X10" => self.setting(),
            "X2" => self.set("deadline", &self.multiple(0, 4)?),
            "X3" => self.set("timeout", &self.half(1)?),
            "R16" | "X9" | "X12" => Some(vec![self.without(self.item_here()?)?]),
            "syntax" => Some(vec![self.written_otherwise()?]),
            "S1" => self.set("until", "|_| true"),
            "S2" => Some(vec![(
                self.key("timeout")?.all.start
                    ..self
                        .key("timeout")?
                        .all
                        .start
                        .saturating_add("timeout".len()),
                "deadline".to_owned(),
            )]),
            "S3" => self.word("const"),
            "S4" => self.chain(),
            "S5" => self.retry_error(),
            // A method of a block lacks the parameter, and no other name helps.
            "S7" if self.fault.message.starts_with("method ") => None,
            "S7" => Some(vec![self.token(self.quoted().last()?)?]),
            "S8" => self.merged(),
            "S10" => self.body_last(),
            "S11" => Some(vec![(
                self.at..self.at,
                "#[retry(permanent)]\n    ".to_owned(),
            )]),
            "D1" => self.retries_of_step(),
            "D3" => self.set("deadline", &quoted(self.times().get(1)?)),
            "D6" => Some(vec![(self.at..self.at, "async ".to_owned())]),
            "D7" => self.first_parameter("_step: &reattempt_supervisor::Step"),
            "D8" => Some(vec![(self.at..self.at, "&".to_owned())]),
            "D9" => self.without_generics(),
            "D10" => self.result(),
            "D11" => self.by_value(),
            "word" => Some(vec![self.token(&self.nearest()?)?]),
            _ => None,
        }
    }

    /// A key with its value behind "write" or "add", a key behind "lower", "raise" or "drop".
    fn by_words(&self) -> Option<Vec<Edit>> {
        let message = self.fault.message.as_str();
        for verb in ["write ", "add ", "or write "] {
            for (_, behind) in message
                .match_indices(verb)
                .filter_map(|(at, _)| Some((at, message.get(at.saturating_add(verb.len())..)?)))
            {
                let Some(code) = snippet(behind).filter(|it| !it.contains("...")) else {
                    continue;
                };
                match code.split_once(" = ") {
                    Some((key, value)) if is_key(key) => return self.set(key, value),
                    None if code.ends_with(')') => return self.replaced(code),
                    _ => {}
                }
            }
        }
        for verb in ["lower ", "raise "] {
            let Some((_, behind)) = message.split_once(&format!("{verb}`")) else {
                continue;
            };
            let (key, behind) = behind.split_once('`')?;
            let Some(value) = behind.strip_prefix(" to ") else {
                continue;
            };
            let value: String = value
                .chars()
                .take_while(char::is_ascii_alphanumeric)
                .collect();
            let is_number = value.chars().all(|it| it.is_ascii_digit());
            return self.set(key, &if is_number { value } else { quoted(&value) });
        }
        let (_, behind) = message.split_once("drop ")?;
        let key = snippet(behind)?;
        Some(vec![self.without(self.key(key)?)?])
    }

    /// The errors inside of one that any error may be inside of. Of any other type only a person knows which of its
    /// errors are worth a retry.
    fn chain(&self) -> Option<Vec<Edit>> {
        let message = &self.fault.message;
        let own = self.quoted();
        let is_boxed = |it: &String| {
            ["anyhow::Error", "eyre::Report"]
                .iter()
                .any(|name| it.ends_with(name))
                || (it.starts_with("Box<dyn ") && it.contains("Error"))
        };
        if !message.contains("does not say what is inside") && !own.iter().any(is_boxed) {
            return None;
        }
        self.item("on = reattempt::chain![std::io::Error]")
    }

    /// What the message says in back-ticks.
    fn quoted(&self) -> Vec<String> {
        let pieces = self.fault.message.split('`').enumerate();
        let inside = pieces.filter(|(number, _)| number % 2 == 1);
        inside.map(|(_, it)| it.to_owned()).collect()
    }

    /// The last literal of the message.
    fn literal(&self) -> Option<String> {
        let inside = self.quoted();
        let own = inside
            .iter()
            .find(|it| it.starts_with('"') && !self.is_written(it));
        own.cloned().or_else(|| {
            let (_, behind) = self.fault.message.split_once("such as ")?;
            Some(behind.split(',').next()?.trim().to_owned())
        })
    }

    fn is_written(&self, literal: &str) -> bool {
        tokens::token(&self.tokens, self.at).is_some_and(|it| it.to_string() == literal)
    }

    /// Durations in the order in which the message has them.
    fn times(&self) -> Vec<String> {
        let words: Vec<&str> = self.fault.message.split([' ', ',', ';', ':']).collect();
        let mut times = Vec::new();
        for (number, word) in words.iter().enumerate() {
            let unit = word.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.');
            let amount = word.strip_suffix(unit).unwrap_or_default();
            let is_unit = |it: &str| matches!(it, "ns" | "us" | "ms" | "s" | "m" | "h");
            if amount.is_empty() || word.starts_with('.') {
                continue;
            }
            if is_unit(unit) {
                times.push((*word).to_owned());
            } else if let Some(unit) = words
                .get(number.saturating_add(1))
                .filter(|it| unit.is_empty() && is_unit(it))
            {
                times.push(format!("{amount}{unit}"));
            }
        }
        times
    }

    fn duration(&self, number: usize) -> Option<std::time::Duration> {
        retry_runtime::duration::parse(self.times().get(number)?).ok()
    }

    fn multiple(&self, number: usize, times: u32) -> Option<String> {
        Some(text_of(self.duration(number)?.checked_mul(times)?))
    }

    fn half(&self, number: usize) -> Option<String> {
        Some(text_of(self.duration(number)?.checked_div(2)?))
    }

    /// The kind in the message that begins most like what stands there.
    fn nearest(&self) -> Option<String> {
        let inside = self.quoted();
        let (unknown, kinds) = inside.split_first()?;
        let common = |kind: &&String| {
            let pairs = kind.chars().zip(unknown.chars());
            pairs.take_while(|(one, other)| one == other).count()
        };
        kinds.iter().max_by_key(common).cloned()
    }

    fn source(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    /// The token at the fault becomes `new`.
    fn token(&self, new: &str) -> Option<Edit> {
        let token = tokens::token(&self.tokens, self.at)?;
        Some((tokens::range(&token), new.to_owned()))
    }

    fn key(&self, key: &str) -> Option<&Item> {
        self.keys.as_ref()?.items.iter().find(|it| it.key == key)
    }

    /// The item that the fault stands in.
    fn item_here(&self) -> Option<&Item> {
        let items = &self.keys.as_ref()?.items;
        items
            .iter()
            .find(|it| it.all.contains(&self.at) || it.all.end == self.at)
    }

    /// `key = value`, in place of what the key is set to.
    fn set(&self, key: &str, value: &str) -> Option<Vec<Edit>> {
        match self.key(key) {
            Some(item) => Some(vec![(item.all.clone(), format!("{key} = {value}"))]),
            None => self.item(&format!("{key} = {value}")),
        }
    }

    /// One more item, before the others.
    fn item(&self, item: &str) -> Option<Vec<Edit>> {
        let keys = self.keys.as_ref()?;
        let start = keys.inside.start;
        let new = match (keys.inside.is_empty(), keys.items.is_empty()) {
            (true, _) if !self.source(0..start).ends_with('(') => format!("({item})"),
            (_, true) => item.to_owned(),
            _ => format!("{item}, "),
        };
        Some(vec![(start..start, new)])
    }

    fn without(&self, item: &Item) -> Option<Edit> {
        let keys = self.keys.as_ref()?;
        let rest = self.source(item.all.end..keys.inside.end);
        let behind = rest.len().saturating_sub(rest.trim_start().len());
        if rest.trim_start().starts_with(',') {
            let end = item.all.end.saturating_add(behind).saturating_add(1);
            let blank = self.source(end..keys.inside.end);
            let blank = blank.len().saturating_sub(blank.trim_start().len());
            return Some((item.all.start..end.saturating_add(blank), String::new()));
        }
        let before = self.source(keys.inside.start..item.all.start).trim_end();
        let before = before.strip_suffix(',').unwrap_or(before);
        Some((
            keys.inside.start.saturating_add(before.len())..item.all.end,
            String::new(),
        ))
    }

    /// The key as the message writes it; without that the key goes.
    fn written_otherwise(&self) -> Option<Edit> {
        let item = self.item_here()?;
        let named = self.fault.message.split_once("write ");
        let code = named.and_then(|(_, behind)| snippet(behind));
        let is_same = |code: &&str| {
            let rest = code.strip_prefix(item.key.as_str());
            let is_item = rest.is_some_and(|it| it.starts_with([' ', '(']));
            !code.contains("...") && (is_item || !is_key(&item.key))
        };
        match code.filter(is_same) {
            Some(code) => Some((item.all.clone(), code.to_owned())),
            None => self.without(item),
        }
    }

    /// `on(_)` in place of `on()`, `clone(x)`.
    fn replaced(&self, code: &str) -> Option<Vec<Edit>> {
        let (name, _) = code.split_once('(')?;
        let item = self.key(name)?;
        Some(vec![(item.all.clone(), code.to_owned())])
    }

    /// The item as the message writes it, or with the name that its key has here. A value that the message leaves out is
    /// for a person.
    fn renamed(&self) -> Option<Vec<Edit>> {
        let item = self.item_here()?;
        let names = self.quoted();
        let called = self.fault.message.split_once("called `");
        let called = called.and_then(|(_, rest)| rest.split_once('`'));
        let name = called
            .map(|(name, _)| name)
            .or(names.get(1).and_then(|it| it.split([' ', '(']).next()))
            .filter(|name| is_key(name))?;
        let value = item.value.clone().map(|it| self.source(it));
        let is_code = |code: &&String| {
            let rest = code.strip_prefix(name);
            !code.contains("...") && rest.is_some_and(|it| it.starts_with([' ', '(']))
        };
        let replaced = match (names.iter().rfind(is_code), value) {
            (Some(code), value) => {
                let keeps_value = self.fault.message.contains("write `");
                (keeps_value || matches!(value, None | Some("true"))).then(|| code.clone())
            }
            (None, value) => Some(format!("{name} = {}", value?)),
        };
        Some(vec![(item.all.clone(), replaced?)])
    }

    /// `failure_ratio(0.5)`, and `min_calls`, which is lowered.
    fn setting(&self) -> Option<Vec<Edit>> {
        let names = self.quoted();
        let code = names.iter().find(|it| it.ends_with(')'));
        let call = code.and_then(|it| it.strip_suffix(')')?.split_once('('));
        let (name, value) = if let Some((name, value)) = call {
            (name.to_owned(), value.to_owned())
        } else {
            let (_, value) = self.fault.message.split_once(" it to ")?;
            (names.first()?.clone(), value.split(' ').next()?.to_owned())
        };
        let call = format!(".{name}(");
        let start = self
            .at
            .saturating_add(self.text.get(self.at..)?.find(&call)?)
            .saturating_add(call.len());
        let length = self.text.get(start..)?.find(')')?;
        Some(vec![(start..start.saturating_add(length), value)])
    }

    /// Takes a word in the line away.
    fn word(&self, word: &str) -> Option<Vec<Edit>> {
        let rest = self.text.get(self.at..)?;
        let start = self.at.saturating_add(rest.find(word)?);
        Some(vec![(
            start..start.saturating_add(word.len()).saturating_add(1),
            String::new(),
        )])
    }

    /// The function that the fault is in or in front of.
    fn function(&self) -> Option<Function> {
        let file = syn::parse_file(self.text).ok()?;
        let mut search = Functions {
            at: self.at,
            found: None,
        };
        search.visit_file(&file);
        search.found
    }

    /// The keys of the attribute of this name, or of the next one, on the function around.
    fn attribute(&self, name: &str, number: usize) -> Option<Keys> {
        let attributes = self.function()?.attributes;
        let mut names = attributes.iter().filter_map(|it| it.path().segments.last());
        let found = names.by_ref().filter(|it| it.ident == name).nth(number)?;
        tokens::keys(&self.tokens, found.ident.span().byte_range().start)
    }

    /// The return type can say how the call ended: `RetryError<E>`.
    fn retry_error(&self) -> Option<Vec<Edit>> {
        let function = self.function()?;
        let (result, error) = arguments(&function.signature.output)?;
        let [value, error_text] = [&result, &error].map(|it| self.source(it.clone()).to_owned());
        let body = self.source(function.body.clone());
        let wait = if function.signature.asyncness.is_some() {
            ("async ", ".await")
        } else {
            return None;
        };
        Some(vec![
            (error, format!("reattempt::RetryError<{error_text}>")),
            (
                function.body.clone(),
                format!(
                    "{{\n    let answer: Result<{value}, {error_text}> = {}{body}{};\n    Ok(answer?)\n}}",
                    wait.0, wait.1
                ),
            ),
        ])
    }

    /// The keys of a second attribute, in the first one.
    fn merged(&self) -> Option<Vec<Edit>> {
        let (first, second) = (self.attribute("retry", 0)?, self.attribute("retry", 1)?);
        let more = self.source(second.inside.clone()).to_owned();
        Some(self.moved_into(&first, &second, more))
    }

    /// `more` at the end of the first attribute, and without the second one.
    fn moved_into(&self, first: &Keys, second: &Keys, more: String) -> Vec<Edit> {
        let end = first.inside.end;
        let is_bare = !self.source(0..end).ends_with('(') && first.inside.is_empty();
        let new = match (is_bare, first.items.is_empty()) {
            (true, _) => format!("({more})"),
            (_, true) => more,
            _ => format!(", {more}"),
        };
        let gone = self.source(second.whole.end..self.text.len());
        let blank = gone.len().saturating_sub(gone.trim_start().len());
        vec![
            (end..end, new),
            (
                second.whole.start..second.whole.end.saturating_add(blank),
                String::new(),
            ),
        ]
    }

    /// `#[retry(..)]` below `#[step]`, as its key.
    fn retries_of_step(&self) -> Option<Vec<Edit>> {
        let (step, retry) = (self.attribute("step", 0)?, self.attribute("retry", 0)?);
        let more = format!("retry({})", self.source(retry.inside.clone()));
        Some(self.moved_into(&step, &retry, more))
    }

    /// What is retried stands behind the keys.
    fn body_last(&self) -> Option<Vec<Edit>> {
        let keys = self.keys.as_ref()?;
        let is_body = |it: &&Item| {
            it.value.is_none() && it.key.starts_with(['{', '|', 'a', 'm']) && !it.key.ends_with(')')
        };
        let body = keys.items.iter().find(is_body)?;
        let others = keys.items.iter().filter(|it| it.all != body.all);
        let mut all: Vec<_> = others
            .map(|it| self.source(it.all.clone()).to_owned())
            .collect();
        all.push(self.source(body.all.clone()).to_owned());
        Some(vec![(keys.inside.clone(), all.join(", "))])
    }

    fn first_parameter(&self, parameter: &str) -> Option<Vec<Edit>> {
        let function = self.function()?;
        let start = function.signature.paren_token.span.open().byte_range().end;
        let comma = if function.signature.inputs.is_empty() {
            ""
        } else {
            ", "
        };
        Some(vec![(start..start, format!("{parameter}{comma}"))])
    }

    fn without_generics(&self) -> Option<Vec<Edit>> {
        let generics = self.function()?.signature.generics;
        let (open, close) = (generics.lt_token?, generics.gt_token?);
        let range = open.span().byte_range().start..close.span().byte_range().end;
        Some(vec![(range, String::new())])
    }

    /// `-> T` becomes a `Result`, and the body its value.
    fn result(&self) -> Option<Vec<Edit>> {
        let function = self.function()?;
        let ReturnType::Type(_, ty) = &function.signature.output else {
            return None;
        };
        let range = bytes(ty);
        let ty = self.source(range.clone()).to_owned();
        let last = function.last?;
        let value = self.source(last.clone()).to_owned();
        Some(vec![
            (range, format!("Result<{ty}, std::convert::Infallible>")),
            (last, format!("Ok({value})")),
        ])
    }

    /// A parameter that is a reference, as what is owned.
    fn by_value(&self) -> Option<Vec<Edit>> {
        let function = self.function()?;
        let mut types = function.signature.inputs.iter().filter_map(|it| match it {
            FnArg::Typed(it) => Some(&*it.ty),
            FnArg::Receiver(_) => None,
        });
        let reference = types.find_map(|it| match it {
            Type::Reference(it) if bytes(it).contains(&self.at) => Some(it),
            _ => None,
        })?;
        let owned = match &*reference.elem {
            Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
            Type::Slice(slice) => format!("Vec<{}>", self.source(bytes(&slice.elem))),
            other => self.source(bytes(other)).to_owned(),
        };
        Some(vec![(bytes(reference), owned)])
    }
}

/// What is needed of a function.
struct Function {
    attributes: Vec<syn::Attribute>,
    signature: Signature,
    /// With its braces.
    body: Range<usize>,
    /// The expression at its end.
    last: Option<Range<usize>>,
}

struct Functions {
    at: usize,
    found: Option<Function>,
}

impl Functions {
    fn function(
        &mut self,
        item: &dyn quote::ToTokens,
        attributes: &[syn::Attribute],
        signature: &Signature,
        block: &syn::Block,
    ) {
        if !bytes(&item.to_token_stream()).contains(&self.at) {
            return;
        }
        self.found = Some(Function {
            attributes: attributes.to_vec(),
            signature: signature.clone(),
            body: bytes(block),
            last: match block.stmts.last() {
                Some(Stmt::Expr(expr, None)) => Some(bytes(expr)),
                _ => None,
            },
        });
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.function(item, &item.attrs, &item.sig, &item.block);
        syn::visit::visit_item_fn(self, item);
    }
    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(item, &item.attrs, &item.sig, &item.block);
        syn::visit::visit_impl_item_fn(self, item);
    }
}

fn bytes(tokens: &impl quote::ToTokens) -> Range<usize> {
    let mut all = tokens.to_token_stream().into_iter();
    let Some(first) = all.next() else { return 0..0 };
    let first = tokens::range(&first);
    let end = all.last().map_or(first.end, |it| tokens::range(&it).end);
    first.start..end
}

/// The two types of a `Result`.
fn arguments(output: &ReturnType) -> Option<(Range<usize>, Range<usize>)> {
    let ReturnType::Type(_, ty) = output else {
        return None;
    };
    let Type::Path(path) = &**ty else { return None };
    let syn::PathArguments::AngleBracketed(all) = &path.path.segments.last()?.arguments else {
        return None;
    };
    let mut types = all.args.iter();
    let pair = (bytes(types.next()?), bytes(types.next()?));
    types.next().is_none().then_some(pair)
}

/// What stands between the first two back-ticks, if the text begins with one.
fn snippet(text: &str) -> Option<&str> {
    text.strip_prefix('`')?.split('`').next()
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|it| it.is_ascii_lowercase() || it == '_')
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}
