//! [`Args`] and the function -> [`Model`]. The rules about values are the
//! runtime's; the rules about functions are here.

mod constant;
mod cut_off;
mod escape;
mod function;
mod hooks;
mod limits;
mod map_err;
mod named;
pub(crate) mod progress;
mod running;
mod strategy;
mod together;

use proc_macro2::{Span, TokenStream};
use reattempt_policy::rules::{Key, Keys, Kind, Rule, RuleId};
use reattempt_policy::{KeyValue, Values};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Expr, Ident};

use self::function::Subject;
use crate::args::{Args, Code, Filter, Given, Predicate, TakeValue, Value};
use crate::diagnostics::{Diagnostic, Diagnostics, Place};
use crate::item::{Answer, Flow, Function};
use crate::literal::{Literal, Name};
use crate::model::{Model, OperationName, Setting, at};
use crate::moves::{Owned, SetBy};

/// Checks the arguments of a function.
pub fn function(
    mut args: Args,
    item: &Function,
    answer: &Answer,
    flow: &Flow,
    faults: &mut Diagnostics,
) -> Model {
    function::signature(&args, item, answer, flow, faults);
    hooks::of_signature(&args, item, answer, faults);
    let mut parameters = crate::item::parameters(&item.signature);
    if let Some(body) = &item.body {
        for (name, mutable) in crate::async_trait::rebound(body) {
            let declared = crate::moves::declared(&name);
            match parameters.iter_mut().find(|(known, _)| *known == declared) {
                Some((_, known)) => *known = mutable,
                None => parameters.push((name, mutable)),
            }
        }
    }
    let mut generics = crate::item::generics(&item.signature);
    if item.signature.receiver().is_some() {
        generics.extend(single_capitals(&args));
    }
    let name = item.signature.ident.unraw().to_string();
    let name = OperationName::Function(name);
    let clone = args.clone.take();
    let mut model = policy(args, &parameters, name, answer.error_span(), faults);
    model.clone = function::cloned(clone, &parameters, item, faults);
    model.generics = generics;
    model.shared = crate::item::shared(&item.signature);
    let is_public = !matches!(item.visibility, syn::Visibility::Inherited);
    model.set_by = SetBy::of(&item.signature, is_public);
    model.owned = crate::moves::owned(&item.signature, item.body.as_ref());
    let again = [
        ("before_retry", model.before_retry.as_ref()),
        ("on_retry", model.on_retry.as_ref()),
        ("verify", model.verify.as_ref()),
    ];
    hooks::moved(again, &model.owned, flow, faults);
    let is_cloned = |owned: &Owned| model.clone.iter().any(|(name, _)| *name == owned.name);
    model.owned.retain(|owned| !is_cloned(owned));
    model.escape = escape::borrowed(item, answer, flow, faults);
    escape::advanced(item, flow, faults);
    named::shared(&model, faults);
    if let Some(body) = &item.body {
        progress::find(&mut model, body.stream(), faults);
    }
    model
}

/// Values that are a single capital: on a method that may be a parameter of the
/// block around it, which an item in the method could not see.
fn single_capitals(args: &Args) -> Vec<Ident> {
    let names = Key::ALL.into_iter().filter_map(|key| {
        let (Kind::Attempts | Kind::Factor | Kind::Jitter | Kind::Flag) = key.kind() else {
            return None;
        };
        match args.expression(key)? {
            Expr::Path(path) => path.path.get_ident().cloned(),
            _ => None,
        }
    });
    names.filter(crate::item::is_one_letter).collect()
}

/// Checks the arguments of a block, which has no parameters.
pub fn block(
    args: Args,
    asynchronous: bool,
    error_span: Option<Span>,
    faults: &mut Diagnostics,
) -> Model {
    if !asynchronous {
        function::blocking(&args, &Subject::this("block"), faults);
    }
    let name = OperationName::Given(ours!(::core::concat!(
        ::core::module_path!(),
        ":",
        ::core::line!()
    )));
    let model = policy(args, &[], name, error_span, faults);
    named::shared(&model, faults);
    model
}

/// The parts of a policy that arrive one by one.
struct Draft<'f> {
    parameters: &'f [(Ident, bool)],
    known: Values,
    unknown: Keys,
    settings: Vec<Setting>,
    /// `timeout = |attempt| ...`
    timeout_by: Option<Expr>,
    /// The span of each value, for the rules that name a key.
    places: Vec<(Key, Span, Place)>,
    krate: TokenStream,
    faults: &'f mut Diagnostics,
}

impl TakeValue for &mut Draft<'_> {
    fn take<T: Literal>(
        &mut self,
        key: Key,
        value: Option<Value<T>>,
        of: impl FnOnce(&T) -> KeyValue,
    ) {
        let Some(Value {
            key: key_span,
            given,
        }) = value
        else {
            return;
        };
        let mut running = None;
        let (value, span, expression) = match given {
            Given::Literal(literal, span) => {
                self.known = self.known.assign(key, of(&literal)).unwrap_or(self.known);
                (literal.tokens(&self.krate), span, None)
            }
            Given::Expression(expr @ Expr::Closure(_)) if key == Key::Timeout => {
                self.unknown = self.unknown.with(key);
                self.timeout_by = Some(expr);
                return;
            }
            Given::Expression(expr) => {
                self.unknown = self.unknown.with(key);
                let (value, place, span) = (ours!(#expr), Place::of(&expr), expr.span());
                if !key.kind().is_measured() {
                    only_constant(key.as_str(), &expr, self.parameters, self.faults);
                    hooks::constant_backoff(&expr, self.parameters, &self.settings, self.faults);
                } else if running::is_running(&expr, self.parameters) {
                    running = Some(expr);
                }
                (value, place, Some(span))
            }
            Given::Wrong(fault) => {
                self.unknown = self.unknown.with(key);
                self.faults.add(fault);
                return;
            }
        };
        self.places.push((key, key_span, span));
        self.settings.push(Setting {
            key,
            word: key_span,
            place: span.first(),
            value,
            expression,
            running,
        });
    }
}

impl Draft<'_> {
    /// Whether all of `keys` are given.
    fn knows(&self, keys: Keys) -> bool {
        let given = |key: &Key| self.places.iter().any(|(known, ..)| known == key);
        Key::ALL
            .iter()
            .filter(|key| keys.contains(**key))
            .all(given)
    }

    /// The runtime's rules, as far as everything they look at is known.
    /// Of keys that override an inherited policy, only those rules are judged
    /// here that look at nothing else.
    fn judge(&mut self, is_override: bool) {
        for rule in Rule::ALL {
            if rule.keys().intersects(self.unknown) || (is_override && !self.knows(rule.keys())) {
                continue;
            }
            let Some(violation) = rule.check(&self.known) else {
                continue;
            };
            let place = self
                .places
                .iter()
                .find(|(key, ..)| Some(*key) == violation.key());
            let span = match place {
                // A key that has no business here, or a value that is wrong.
                Some((_, key, _)) if rule.id().is_about_effects() => (*key).into(),
                Some((_, _, value)) => *value,
                None => Span::call_site().into(),
            };
            self.faults.push(span, rule.id(), violation.message());
        }
    }
}

fn policy(
    mut args: Args,
    parameters: &[(Ident, bool)],
    default_name: OperationName,
    error_span: Option<Span>,
    faults: &mut Diagnostics,
) -> Model {
    together::together(&args, faults);
    limits::no_gate(&args, faults);
    limits::hedge_rules(&args, faults);
    let known = strategy::alone(&mut args, faults);
    let cut_off = cut_off::cut_off(&args, faults);
    let history = (args.history.as_ref()).filter(|value| is_on(Some(value), "history", faults));
    let history = history.map(|value| value.key);
    let doc = is_on(args.doc.as_ref(), "doc", faults);
    let krate = args.krate.take().and_then(|path| keep(path.0, faults));
    let policy = args.policy.take().and_then(|code| expression(code, faults));
    let (inherited, named) = named::inherited_or_named(policy, parameters, faults);
    let mut draft = Draft {
        parameters,
        known,
        unknown: Keys::NONE,
        settings: Vec::new(),
        timeout_by: None,
        places: Vec::new(),
        krate: krate
            .as_ref()
            .map_or_else(|| ours!(::reattempt), |path| ours!(#path)),
        faults,
    };
    args.take_policy(&mut draft);
    let budget = draft.budget(args.budget, parameters);
    draft.judge(inherited.is_some());
    let krate_tokens = draft.krate.clone();
    let Draft {
        known,
        unknown,
        settings,
        timeout_by,
        ..
    } = draft;
    named::no_timeout_by(named.as_ref(), timeout_by.as_ref(), faults);
    Model {
        krate,
        inherited,
        named,
        settings,
        timeout_by,
        known,
        unknown,
        budget,
        breaker: args.breaker.and_then(|code| expression(code, faults)),
        bulkhead: args.bulkhead.and_then(|code| expression(code, faults)),
        throttle: args.throttle.and_then(|code| expression(code, faults)),
        hedge: limits::hedging(args.hedge, &krate_tokens, parameters, faults),
        on: args
            .on
            .and_then(|filter| predicate(filter, parameters, faults)),
        except: args
            .except
            .and_then(|filter| predicate(filter, parameters, faults)),
        verify: args.verify.and_then(|code| hook(code, parameters, faults)),
        until: args.until.and_then(|code| hook(code, parameters, faults)),
        retry_after: args
            .retry_after
            .and_then(|code| hook(code, parameters, faults)),
        fallback: args.fallback.and_then(|code| expression(code, faults)),
        map_err: map_err::mapper(args.map_err, faults),
        history,
        cut_off,
        doc,
        before_retry: args
            .before_retry
            .and_then(|code| hook(code, parameters, faults)),
        on_retry: args
            .on_retry
            .and_then(|code| hook(code, parameters, faults)),
        context: args
            .context
            .and_then(|binding| keep(binding.0, faults))
            .inspect(|name| function::hidden_parameter(name, parameters, faults)),
        progress: None,
        clone: Vec::new(),
        keys: Vec::new(),
        owned: Vec::new(),
        is_block: false,
        set_by: SetBy::Unknown,
        escape: None,
        shared: Vec::new(),
        borrowed: Vec::new(),
        reborrowed: Vec::new(),
        name: args
            .name
            .and_then(|name| operation_name(name, parameters, faults))
            .map_or(default_name, OperationName::Given),
        generics: Vec::new(),
        detail: args.detail.and_then(|code| expression(code, faults)),
        strategy: args.strategy.and_then(|code| expression(code, faults)),
        timer: args.timer.and_then(|code| expression(code, faults)),
        error_span: error_span.unwrap_or_else(Span::call_site),
    }
}

/// Returns the value of a key by which the expansion differs; `true` without it.
fn is_on(value: Option<&Value<bool>>, key: &str, faults: &mut Diagnostics) -> bool {
    match value.map(|value| &value.given) {
        None => true,
        Some(Given::Literal(on, _)) => *on,
        Some(Given::Expression(expr)) => {
            faults.push(
                expr.span(),
                RuleId::Type,
                format!("what compiles depends on `{key}`, so it is `true` or `false`; write `{key} = false`"),
            );
            true
        }
        Some(Given::Wrong(fault)) => {
            faults.add(fault.clone());
            true
        }
    }
}

/// A key that is not a number, of which the compiler has to know the value.
fn only_constant(key: &str, expr: &Expr, parameters: &[(Ident, bool)], faults: &mut Diagnostics) {
    if running::names_parameter(expr, parameters) {
        faults.push(
            expr.span(),
            RuleId::Type,
            format!("`{key}` must be a constant, but this value is known only at run time; write a constant, or set it in a `Policy`: `policy = self.policy`"),
        );
    }
}

/// The value of a key that is written as a literal.
fn literal_value<T: Copy>(value: Option<&Value<T>>) -> Option<T> {
    match &value?.given {
        Given::Literal(literal, _) => Some(*literal),
        _ => None,
    }
}

fn operation_name(
    name: Value<Name>,
    parameters: &[(Ident, bool)],
    faults: &mut Diagnostics,
) -> Option<TokenStream> {
    match name.given {
        Given::Literal(name, _) => Some(name.tokens(&TokenStream::new())),
        // A constant; that it is a text the compiler sees.
        Given::Expression(expr) => {
            if running::names_parameter(&expr, parameters) {
                faults.push(
                    expr.span(),
                    RuleId::Type,
                    "`name` must be a constant, but this value is known only at run time; write a text or a constant",
                );
            }
            Some(ours!(#expr))
        }
        Given::Wrong(fault) => {
            faults.add(fault);
            None
        }
    }
}

fn keep<T>(given: Result<T, Diagnostic>, faults: &mut Diagnostics) -> Option<T> {
    given.map_err(|fault| faults.add(fault)).ok()
}

fn expression(code: Code, faults: &mut Diagnostics) -> Option<Expr> {
    keep(code.given, faults)
}

/// A hook that may run again.
fn hook(code: Code, parameters: &[(Ident, bool)], faults: &mut Diagnostics) -> Option<Expr> {
    expression(code, faults).map(|code| called(code, parameters))
}

/// A function that a parameter or a field holds, as a closure that calls it: the call leaves it in its place.
fn called(code: Expr, parameters: &[(Ident, bool)]) -> Expr {
    let is_parameter = |path: &syn::Path| parameters.iter().any(|(name, _)| path.is_ident(name));
    let span = at(code.span());
    match code {
        Expr::Path(path) if is_parameter(&path.path) => {
            syn::parse_quote_spanned!(span=> |argument| #path(argument))
        }
        Expr::Field(field) => syn::parse_quote_spanned!(span=> |argument| (#field)(argument)),
        Expr::Group(group) => called(*group.expr, parameters),
        Expr::Paren(paren) => called(*paren.expr, parameters),
        code => code,
    }
}

fn predicate(
    filter: Filter,
    parameters: &[(Ident, bool)],
    faults: &mut Diagnostics,
) -> Option<Predicate> {
    match filter.given {
        Given::Literal(Predicate::Code(code), _) => Some(Predicate::Code(called(code, parameters))),
        Given::Literal(predicate, _) => Some(predicate),
        Given::Wrong(fault) => {
            faults.add(fault);
            None
        }
        Given::Expression(_) => None,
    }
}
