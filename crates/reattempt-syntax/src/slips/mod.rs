//! What people write for a value that the compiler would answer in its own words: a value where a function is asked for, an
//! operator between two keys, the constructor of another library.

use darling::ast::NestedMeta;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use reattempt_policy::Backoff;
use reattempt_policy::rules::{Key, Kind, RuleId};
use reattempt_policy::written as keys;
use reattempt_policy::written::Word;
use std::time::Duration;
use syn::parse::Parser as _;
use syn::{BinOp, Expr, Meta, Pat};

mod hooks;
mod items;
mod lists;
mod misplaced;
mod texts;
mod values;

pub use hooks::awaits_in;
use hooks::hook;
pub(crate) use hooks::{fails, is_number_type, quoted_function};
pub use items::{brackets, unreadable};
pub use lists::has_keys;
use lists::listed;
pub use misplaced::misplaced;
pub use values::{is_number, test_of_status};

use crate::diagnostics::{Diagnostic, Place};
use crate::keys::is_one_of;
use crate::literal::quoted;
use crate::tokens::{is_camel_case, names_errors, test_of_kind, written};

/// Keys that take a function.
const HOOKS: &[&str] = &[
    "on",
    "except",
    "until",
    "retry_after",
    "on_retry",
    "before_retry",
    "fallback",
    "verify",
];

/// What is wrong with the value of `key`.
pub fn of(key: &str, item: &NestedMeta) -> Option<Diagnostic> {
    match item {
        NestedMeta::Meta(Meta::NameValue(pair)) => {
            let text = beyond_the_comma(key, &pair.value).or_else(|| value_of(key, &pair.value))?;
            Some(Diagnostic::new(Place::of(&pair.value), rule_of(key), text))
        }
        NestedMeta::Meta(Meta::List(list)) => listed(key, list),
        NestedMeta::NameValueInvalidExpr(pair) => {
            let text = doubled(key, &pair.value).or_else(|| percent(key, &pair.value))?;
            Some(Diagnostic::new(
                Place::of(&pair.value),
                RuleId::Syntax,
                text,
            ))
        }
        _ => None,
    }
}

/// `max == 5`, `max => 5`
fn doubled(key: &str, value: &TokenStream) -> Option<String> {
    let mut tokens = value.clone().into_iter();
    let sign = tokens.next()?;
    let rest = written(&tokens.collect());
    (is_sign(&sign, '=') || is_sign(&sign, '>'))
        .then(|| format!("one `=` stands between a key and its value; write `{key} = {rest}`"))
}

/// `jitter = 20%`
fn percent(key: &str, value: &TokenStream) -> Option<String> {
    let share = written(value)
        .strip_suffix('%')?
        .trim()
        .parse::<f64>()
        .ok()?
        / 100.0;
    matches!(key, "jitter" | "budget")
        .then(|| format!("a share is a number; write `{key} = {share}`"))
}

fn rule_of(key: &str) -> RuleId {
    if HOOKS.contains(&key) {
        RuleId::S9
    } else if key == "codes" {
        RuleId::Type
    } else {
        RuleId::Syntax
    }
}

/// What is wrong with what is no key: the policy itself.
pub fn policy(item: &NestedMeta) -> Option<Diagnostic> {
    let NestedMeta::Meta(Meta::Path(path)) = item else {
        return None;
    };
    let name = path.segments.last()?.ident.to_string();
    let is_constant = !name.contains(char::is_lowercase);
    let is_key = keys::KEYS.contains(&&*name.to_lowercase());
    (is_constant && (!is_key || name == "POLICY")).then(|| {
        let path = written(&path.to_token_stream());
        let text = format!("a policy is the value of a key; write `policy = {path}`");
        Diagnostic::new(Place::of(item), RuleId::R15, text)
    })
}

/// The same of `Policy::new().max(5)` and `..POLICY`, which are no keys.
pub fn policy_alone(tokens: &TokenStream) -> Option<Diagnostic> {
    let all: Vec<_> = tokens.clone().into_iter().collect();
    let mut items = all
        .split(|token| is_sign(token, ','))
        .map(|item| -> TokenStream { item.iter().cloned().collect() });
    if let Some(slip) = items.clone().find_map(|it| chain_alone(&it)) {
        return Some(slip);
    }
    let first = items.next()?;
    let rest_of = |item: &TokenStream| match syn::parse2(item.clone()) {
        Ok(Expr::Range(range)) if range.start.is_none() => range.end,
        _ => None,
    };
    if let Some((item, policy)) = [first.clone()]
        .into_iter()
        .chain(items)
        .find_map(|item| Some((item.clone(), rest_of(&item)?)))
    {
        let policy = written(&policy.to_token_stream());
        let text = if policy.ends_with("Default::default()") || policy == "Policy::default()" {
            format!("keys that are not written have their defaults; drop `..{policy}`")
        } else {
            format!(
                "a policy is the value of a key, and keys beside it replace its own; write `policy = {policy}`"
            )
        };
        return Some(Diagnostic::new(Place::of(&item), RuleId::Syntax, text));
    }
    let value: Expr = syn::parse2(first.clone()).ok()?;
    let text = if let Some(key) = negated_flag(&value) {
        format!("a flag that is off has a value; write `{key} = false`")
    } else if starts_with_policy(&value) || matches!(value, Expr::Field(_)) {
        format!(
            "a policy is the value of a key; write `policy = {}`",
            written(&first)
        )
    } else if builds_foreign(&value) {
        "the builder of another library is no policy; write its values as keys, such as `max = 3, base = \"100ms\"`".to_owned()
    } else {
        return None;
    };
    Some(Diagnostic::new(Place::of(&first), RuleId::Syntax, text))
}

/// `chain![io::Error]`
fn chain_alone(item: &TokenStream) -> Option<Diagnostic> {
    let chain: syn::ExprMacro = syn::parse2(item.clone()).ok()?;
    let is_chain = (chain.mac.path.segments.last()).is_some_and(|it| it.ident == "chain");
    is_chain.then(|| {
        let types = written(&chain.mac.tokens);
        let text =
            format!("`chain!` is the value of a key; write `on = reattempt::chain![{types}]`");
        Diagnostic::new(Place::of(item), RuleId::Syntax, text)
    })
}

/// `!idempotent`
fn negated_flag(value: &Expr) -> Option<String> {
    let Expr::Unary(not) = value else { return None };
    let key = written(&not.expr.to_token_stream());
    (keys::KEYS.contains(&&*key)).then_some(key)
}

/// `max = 3, base = 1s` as an attribute has it.
fn pairs(text: &str) -> String {
    let pair = |pair: &str| match pair.split_once('=') {
        Some((key, value)) => {
            format!(
                "{} = {}",
                key.trim(),
                quoted::<Duration>(value.trim().to_owned())
            )
        }
        None => pair.trim().to_owned(),
    };
    text.split(',').map(pair).collect::<Vec<_>>().join(", ")
}

/// What to write for a literal that has no key.
pub fn value_alone(lit: &syn::Lit) -> String {
    let fix = match lit {
        syn::Lit::Str(text) => {
            let value = text.value();
            if value.contains('=') {
                return format!("keys stand without quotes; write `{}`", pairs(&value));
            }
            if let Some(slip) = (value.parse().ok()).and_then(|tokens| unreadable(&tokens)) {
                return slip.message().to_owned();
            }
            let key = if <Duration as Word>::from_text(&value).is_some_and(|it| it.is_ok()) {
                "deadline"
            } else if <Backoff as Word>::from_text(&value).is_some_and(|it| it.is_ok()) {
                "backoff"
            } else {
                "policy"
            };
            format!("{key} = {value:?}")
        }
        syn::Lit::Float(number) => format!("jitter = {number}"),
        syn::Lit::Int(number) if number.base10_parse::<u32>().is_ok_and(|max| max > 0) => {
            format!("max = {number}")
        }
        _ => "max = 3".to_owned(),
    };
    format!("expected `key = value`; write `{fix}`")
}

/// What stands in parentheses behind a key, where it is the value that belongs behind `=`.
pub fn in_parentheses(meta: &Meta) -> Option<String> {
    let Meta::List(list) = meta else {
        return None;
    };
    let value: Expr = syn::parse2(list.tokens.clone()).ok()?;
    (!matches!(value, Expr::Assign(_))).then(|| written(&list.tokens))
}

/// `ExponentialBuilder::default()`.
fn builds_foreign(value: &Expr) -> bool {
    match value {
        Expr::MethodCall(call) => builds_foreign(&call.receiver),
        Expr::Call(call) => matches!(&*call.func, Expr::Path(path) if {
            let before = path.path.segments.iter().rev().nth(1);
            before.is_some_and(|ty| is_camel_case(&ty.ident))
        }),
        _ => false,
    }
}

/// What is said of a breaker that is written in the attribute.
pub fn no_static(key: &str, kind: &str, said: Option<&syn::Lit>) -> String {
    let upper = kind.to_uppercase();
    let made = match (kind, said) {
        ("Breaker", _) => "count_window(20)".to_owned(),
        ("Throttle", _) => "adaptive()".to_owned(),
        (_, Some(syn::Lit::Int(limit))) => format!("new({limit})"),
        _ => "new(10)".to_owned(),
    };
    format!(
        "`{key}` must be shared by all calls of a service, so it cannot be a literal; write `static {upper}: reattempt::{kind} = reattempt::{kind}::{made};` and `{key} = &{upper}`"
    )
}

fn starts_with_policy(value: &Expr) -> bool {
    match value {
        Expr::MethodCall(call) => starts_with_policy(&call.receiver),
        Expr::Call(call) => matches!(&*call.func, Expr::Path(path) if {
            let before = path.path.segments.iter().rev().nth(1);
            before.is_some_and(|ty| ty.ident == "Policy")
        }),
        _ => false,
    }
}

/// `max = 3 && base = "1s"`.
fn beyond_the_comma(key: &str, value: &Expr) -> Option<String> {
    let Expr::Assign(assign) = value else {
        return None;
    };
    let (first, second) = match &*assign.left {
        Expr::Binary(both) => (&both.left, &both.right),
        other => {
            return Some(format!(
                "keys are separated by `,`; `{key} = {}` holds another key",
                written(&other.to_token_stream())
            ));
        }
    };
    let [first, second, last] =
        [first, second, &assign.right].map(|it| written(&it.to_token_stream()));
    Some(format!(
        "keys are separated by `,`; write `{key} = {first}, {second} = {last}`"
    ))
}

fn value_of(key: &str, value: &Expr) -> Option<String> {
    let said = written(&value.to_token_stream());
    match key {
        "name" => texts::name(value, &said),
        "detail" => texts::detail(value),
        "policy" => inherited(value),
        "timer" => waits(value)
            .then(|| "features choose the timer, and `timer` takes a value that implements `Timer`; drop `timer`".to_owned()),
        "context" => is_word(value, &["self"])
            .then(|| "`self` is that of the method; write `context = attempt`".to_owned()),
        "backoff" => shape(value),
        "map_err" if is_conversion(value) => Some(
            "`map_err` has to name the error of an attempt, which a conversion leaves open; write `map_err = |error: reattempt::RetryError<E>| error.into()`, with that error for `E`, and implement `From<reattempt::RetryError<E>>` where the answer is of your own type".to_owned(),
        ),
        "budget" | "breaker" | "bulkhead" | "throttle" => {
            texts::of_a_static(key, value).or_else(|| table(value).filter(|_| key == "budget"))
        }
        "fallback" if quoted_function(value).is_some() => {
            let function = quoted_function(value)?;
            Some(format!("`fallback` takes a function; write `fallback = {function}`, or `fallback = |_| {said}` where this text is the answer"))
        }
        "fallback" => values::fallback(value, &said),
        "on" | "except" => alternatives(key, value).or_else(|| values::status(key, value)),
        "codes" if is_list(value) => Some(format!("`codes` takes {}", <reattempt_policy::Codes as Word>::EXAMPLE)),
        _ if Key::from_name(key).is_some_and(|key| key.kind() == Kind::Time) => arithmetic(value),
        "until" => bare_value(key, value),
        "retry_after" if is_duration(value) => Some(format!("`retry_after` takes a function that asks the error; write `retry_after = |_| Some({said})`")),
        _ => None,
    }
    .or_else(|| hooks::parameters(key, value))
    .or_else(|| hooks::number(key, value))
    .or_else(|| (said == "None" && keys::CODE.contains(&key)).then(|| format!("a key that is not written has no value; drop `{key} = None`")))
    .or_else(|| HOOKS.contains(&key).then(|| hook(key, value, &said)).flatten())
}

/// `timer = tokio`, `timer = tokio::time::sleep`, `timer = |delay| sleep(delay)`.
fn waits(value: &Expr) -> bool {
    matches!(value, Expr::Closure(_))
        || hooks::sleeps(value)
        || is_word(value, &["tokio", "smol", "std", "async_std"])
}

/// `policy = Some(POLICY)`, `policy = POLICY.build()`.
fn inherited(value: &Expr) -> Option<String> {
    match value {
        Expr::Call(call) if is_word(&call.func, &["Some", "Ok"]) => {
            let policy = written(&call.args.to_token_stream());
            Some(format!(
                "`policy` takes the policy itself; write `policy = {policy}`"
            ))
        }
        Expr::MethodCall(call) if call.method == "build" && call.args.is_empty() => {
            let policy = written(&call.receiver.to_token_stream());
            // There is no builder beside the policy.
            let policy = policy.replacen("Policy::builder()", "Policy::new()", 1);
            let is_constant = !policy.contains(char::is_lowercase);
            (is_constant || starts_with_policy(&call.receiver)).then(|| {
                format!("`build` answers with a `Result`, and the attribute checks the policy itself; write `policy = {policy}`")
            })
        }
        _ => None,
    }
}

/// `backoff = Backoff::Exp { base: 1 }`. Of `Backoff::Exp` alone the compiler tells.
fn with_fields(path: &syn::Path) -> Option<String> {
    let of = path.segments.iter().rev().nth(1)?;
    (of.ident == "Backoff").then(|| numbers_of_backoff("exp"))
}

/// `backoff = exponential("100ms", 2)`.
fn shape(value: &Expr) -> Option<String> {
    if let Expr::Struct(numbers) = value {
        return with_fields(&numbers.path);
    }
    let Expr::Call(call) = value else {
        return None;
    };
    let Expr::Path(path) = &*call.func else {
        return None;
    };
    let word = path.path.get_ident()?.to_string();
    let ours = match &*word {
        "exponential" | "exp" | "exponential_backoff" => "exp",
        "fixed" | "constant" | "constant_backoff" => "fixed",
        "linear" => "linear",
        "fibonacci" => "fibonacci",
        _ => return None,
    };
    Some(numbers_of_backoff(ours))
}

/// What is said of numbers behind the word of a backoff.
fn numbers_of_backoff(shape: &str) -> String {
    format!(
        "the numbers of a backoff are keys of their own; write `backoff = \"{shape}\"` beside `base`, `factor` and `cap`"
    )
}

/// `budget = { per_success = 0.1 }`, as files have it.
fn table(value: &Expr) -> Option<String> {
    let Expr::Block(block) = value else {
        return None;
    };
    let [syn::Stmt::Expr(Expr::Assign(assign), None)] = block.block.stmts.as_slice() else {
        return None;
    };
    let [key, value] = [&assign.left, &assign.right].map(|it| written(&it.to_token_stream()));
    Some(if key == "per_success" {
        format!("a table is of files alone; write `budget = {value}`")
    } else {
        format!(
            "a table is of files alone; write `budget = &BUDGET` with `static BUDGET: reattempt::Budget = reattempt::Budget::{key}({value});`"
        )
    })
}

/// `map_err = Into::into`.
fn is_conversion(value: &Expr) -> bool {
    let Expr::Path(path) = value else {
        return false;
    };
    let words: Vec<_> = path
        .path
        .segments
        .iter()
        .map(|it| it.ident.to_string())
        .collect();
    // An own error takes one type, and these take any.
    let takes_any = words
        .first()
        .is_some_and(|it| is_one_of(it, &["anyhow", "eyre", "color_eyre"]));
    matches!(&*words, [.., of, by] if (of == "Into" && by == "into") || (by == "from" && (of == "From" || takes_any)))
}

/// `Duration::from_secs(5)`.
fn is_duration(value: &Expr) -> bool {
    let path = match value {
        Expr::Call(call) => &*call.func,
        path => path,
    };
    matches!(path, Expr::Path(path) if path.path.segments.iter().rev().nth(1).is_some_and(|it| it.ident == "Duration"))
}

/// `base = 2 * SECOND`, which the compiler calls in no constant.
fn arithmetic(value: &Expr) -> Option<String> {
    let Expr::Binary(both) = value else {
        return None;
    };
    let said = [&both.left, &both.right].map(|side| written(&side.to_token_stream()));
    let [left, right] = &said;
    let (is_factor, is_time) = (|side: &Expr| matches!(side, Expr::Lit(_)), is_constant_time);
    let (what, constant) = match both.op {
        BinOp::Mul(_) if is_factor(&both.left) && is_time(&both.right) => {
            ("product", format!("{right}.saturating_mul({left})"))
        }
        BinOp::Mul(_) if is_factor(&both.right) && is_time(&both.left) => {
            ("product", format!("{left}.saturating_mul({right})"))
        }
        BinOp::Div(_) if is_factor(&both.right) && is_time(&both.left) => {
            ("quotient", format!("{left}.checked_div({right}).unwrap()"))
        }
        BinOp::Add(_) if is_time(&both.left) && is_time(&both.right) => {
            ("sum", format!("{left}.saturating_add({right})"))
        }
        BinOp::Sub(_) if is_time(&both.left) && is_time(&both.right) => {
            ("difference", format!("{left}.saturating_sub({right})"))
        }
        _ => return None,
    };
    Some(format!(
        "a {what} of durations is no constant; write `const {{ {constant} }}`"
    ))
}

/// `SECOND`, `Duration::from_secs(5)`.
fn is_constant_time(value: &Expr) -> bool {
    match value {
        Expr::Path(path) => (path.path.segments.last())
            .is_some_and(|last| !last.ident.to_string().contains(char::is_lowercase)),
        duration => is_duration(duration),
    }
}

/// `codes = [500, 502]`, `codes = Statuses::STANDARD`.
fn is_list(value: &Expr) -> bool {
    match value {
        Expr::Array(_) | Expr::Tuple(_) | Expr::Range(_) => true,
        Expr::Reference(borrow) => is_list(&borrow.expr),
        Expr::Path(path) => {
            let before = path.path.segments.iter().rev().nth(1);
            before.is_some_and(|it| it.ident == "Statuses" || it.ident == "StatusCode")
        }
        _ => false,
    }
}

/// `on = [Fault::Busy, Fault::Closed]`.
fn alternatives(key: &str, value: &Expr) -> Option<String> {
    let elements = match value {
        Expr::Path(path) if lists::is_error_type(&path.path) => {
            return Some(inside(key, &written(&path.to_token_stream())));
        }
        Expr::Call(call) if is_word(&call.func, &["chain"]) => {
            let types = written(&call.args.to_token_stream());
            return Some(format!(
                "`chain!` is a macro; write `{key} = reattempt::chain![{types}]`"
            ));
        }
        Expr::Array(array) => &array.elems,
        Expr::Tuple(tuple) if !tuple.elems.is_empty() => &tuple.elems,
        _ => return None,
    };
    if elements.iter().all(|it| matches!(it, Expr::Lit(_))) {
        return Some(asks_error(key));
    }
    let is_type = |it: &Expr| matches!(it, Expr::Path(path) if lists::is_error_type(&path.path));
    if elements.iter().all(is_type) {
        return Some(inside(key, &written(&elements.to_token_stream())));
    }
    let elements = elements.iter();
    let patterns: Vec<_> = elements.map(|it| written(&it.to_token_stream())).collect();
    let patterns = patterns.join(" | ");
    let parsed = Pat::parse_multi.parse_str(&patterns).ok();
    Some(match parsed.as_ref().and_then(test_of_kind) {
        Some(test) => {
            format!(
                "`{key}` takes a function of the error, which has these kinds; write `{key} = |error| {test}`"
            )
        }
        None => format!("several errors are patterns separated by `|`; write `{key}({patterns})`"),
    })
}

/// What is said of numbers and texts in place of errors.
pub(crate) fn asks_error(key: &str) -> String {
    format!(
        "`{key}` looks at the error itself; write `{key} = |error| ...`, which asks it for what this lists"
    )
}

/// What is wrong with `on(io::Error)`, `on = io::Error`.
fn inside(key: &str, ty: &str) -> String {
    let are = if ty.contains(',') {
        "are types"
    } else {
        "is a type"
    };
    format!(
        "`{ty}` {are}, and `{key}(...)` takes a pattern; for an error inside of another write `{key} = reattempt::chain![{ty}]`"
    )
}

/// What is wrong with `until = Status::Done`, which is a value and no function.
fn bare_value(key: &str, value: &Expr) -> Option<String> {
    let tokens = value.to_token_stream();
    let pattern = Pat::parse_multi.parse2(tokens.clone()).ok()?;
    (!matches!(pattern, Pat::Wild(_)) && names_errors(&pattern)).then(|| {
        let mut value_is = written(&tokens);
        if ["Some", "Ok", "Err"].contains(&&*value_is) {
            value_is.push_str("(_)");
        }
        format!("`{key}` asks a function; write `{key} = |value| matches!(value, {value_is})`")
    })
}

fn is_word(value: &Expr, words: &[&str]) -> bool {
    matches!(value, Expr::Path(path) if words.iter().any(|word| path.path.is_ident(word)))
}

fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

/// `retry-after = ...`: a key with a hyphen.
pub fn hyphens(tokens: &TokenStream) -> Option<Diagnostic> {
    let tokens: Vec<_> = tokens.clone().into_iter().collect();
    let mut start = 0;
    while let Some(TokenTree::Ident(first)) = tokens.get(start) {
        let mut words = vec![first.to_string()];
        let mut at = start;
        while let (Some(TokenTree::Punct(hyphen)), Some(TokenTree::Ident(word))) = (
            tokens.get(at.saturating_add(1)),
            tokens.get(at.saturating_add(2)),
        ) && hyphen.as_char() == '-'
        {
            words.push(word.to_string());
            at = at.saturating_add(2);
        }
        let key = words.join("_");
        let is_set = (tokens.get(at.saturating_add(1))).is_some_and(|token| is_sign(token, '='));
        if words.len() > 1 && is_set {
            let known = keys::KEYS.contains(&&*key) || keys::foreign(&key).is_some();
            let place: TokenStream = tokens.get(start..=at)?.iter().cloned().collect();
            return known.then(|| {
                let text = format!("keys are written with `_`; write `{key}`");
                Diagnostic::new(Place::of(&place), RuleId::R15, text)
            });
        }
        let comma = tokens.iter().skip(at).position(|token| is_sign(token, ','));
        start = at.saturating_add(comma?).saturating_add(1);
    }
    None
}
