//! Calls of other retry libraries: which expressions they are, and what replaces them.

use quote::ToTokens as _;
use syn::{Expr, ExprCall, ExprMethodCall, Pat};

use super::body::{Body, Source};
use super::delays::{self, Library, Named};
use super::keys::Keys;
use crate::code::written;

/// A package, and a path in it.
pub(super) type Foreign = (String, Vec<String>);

/// What the code around says of a name.
pub(super) struct Around<'a> {
    /// Whether the package depends on this package.
    pub(super) depends: &'a dyn Fn(&str) -> bool,
    /// The package and the path in it that a path leads to.
    pub(super) foreign: &'a dyn Fn(&syn::Path) -> Option<Foreign>,
    pub(super) named: &'a Named<'a>,
    /// Whether a variable is set again.
    pub(super) changes: &'a dyn Fn(&str) -> bool,
    pub(super) source: &'a Source<'a>,
}

/// An expression that retries.
pub(super) struct Site<'a> {
    pub(super) by: &'static str,
    pub(super) operation: &'a Expr,
    pub(super) is_async: bool,
    pub(super) keys: Keys,
    /// The enum in which its errors are wrapped.
    wrapper: Option<&'static str>,
    /// What is moved through the attempts.
    context: Option<&'a Expr>,
}

/// The expression as one of these libraries; without the `.await` behind it.
pub(super) fn site<'a>(expr: &'a Expr, around: &Around<'_>) -> Option<Site<'a>> {
    match expr {
        Expr::MethodCall(call) => backon(call, around).or_else(|| tryhard(call, around)),
        Expr::Call(call) => function(call, around),
        _ => None,
    }
}

/// `operation.retry(builder).when(..).notify(..)`.
fn backon<'a>(outermost: &'a ExprMethodCall, around: &Around<'_>) -> Option<Site<'a>> {
    if !(around.depends)("backon") {
        return None;
    }
    let mut behind = Vec::new();
    let mut call = outermost;
    while call.method != "retry" {
        let is_of_chain = ["when", "notify", "adjust", "sleep", "call", "context"]
            .iter()
            .any(|it| call.method == it);
        if !is_of_chain {
            return None;
        }
        behind.push(call);
        call = match &*call.receiver {
            Expr::MethodCall(call) => call,
            _ => return None,
        };
    }
    let [builder] = call.args.iter().collect::<Vec<_>>()[..] else {
        return None;
    };
    // A method of that name that something else has.
    if !matches!(
        &*call.receiver,
        Expr::Closure(_) | Expr::Paren(_) | Expr::Path(_) | Expr::Block(_)
    ) {
        return None;
    }
    let mut keys = delays::keys(Library::Backon, builder, around.named);
    if let Expr::Path(name) = builder
        && (around.changes)(&written(name))
    {
        keys.unknown.push(format!(
            "the code changes `{}` after it makes it: the keys above are those at first",
            written(name)
        ));
    }
    let (mut is_async, mut context, mut predicate) = (true, None, None);
    let mut others = Vec::new();
    for call in behind.iter().rev() {
        let argument = call.args.first();
        match (call.method.to_string().as_str(), argument) {
            ("when", Some(when)) => predicate = Some(hook(when, around.source)),
            ("notify", Some(notify)) => others.push(notification(notify, around.source)),
            ("call", _) => is_async = false,
            ("context", Some(given)) => context = Some(given),
            ("sleep", Some(sleep)) => keys.unknown.push(format!(
                "`.sleep({})` is the key `timer` here; without it the feature `tokio` or `smol` of the library sleeps",
                written(sleep)
            )),
            ("adjust", Some(adjust)) => keys.unknown.push(format!(
                "`.adjust({})` changes the delay after an error; here `retry_after` returns it, or the error's `Classify`",
                written(adjust)
            )),
            _ => {}
        }
    }
    keys.hooks.push(predicate.map_or_else(
        || "on(_)".to_owned(),
        |predicate| format!("on = {predicate}"),
    ));
    keys.hooks.append(&mut others);
    if context.is_some() {
        keys.differs.push("the context moves through the attempts there; a body of ours can borrow, so that most of this code can go".to_owned());
    }
    Some(Site {
        by: "backon",
        operation: &call.receiver,
        is_async,
        keys,
        wrapper: None,
        context,
    })
}

/// `tryhard::retry_fn(operation).retries(10).exponential_backoff(delay)`.
fn tryhard<'a>(outermost: &'a ExprMethodCall, around: &Around<'_>) -> Option<Site<'a>> {
    if !(around.depends)("tryhard") {
        return None;
    }
    let mut behind = vec![outermost];
    let operation = loop {
        match &*behind.last()?.receiver {
            Expr::MethodCall(call) => behind.push(call),
            Expr::Call(call) => {
                let (package, path) = called(call, around)?;
                let is_it = package == "tryhard" && path.last().is_some_and(|it| it == "retry_fn");
                break call.args.first().filter(|_| is_it)?;
            }
            _ => return None,
        }
    };
    let mut keys = Keys {
        backoff: Some("none"),
        ..Keys::default()
    };
    let mut predicate = "on(_)".to_owned();
    for call in behind.iter().rev() {
        let Some(argument) = call.args.first() else {
            continue;
        };
        match call.method.to_string().as_str() {
            "retries" => keys.retries(argument),
            "fixed_backoff" => {
                keys.backoff = Some("fixed");
                keys.base = Some(super::keys::duration(argument));
            }
            "exponential_backoff" => {
                keys.backoff = None;
                keys.base = Some(super::keys::duration(argument));
            }
            "max_delay" => keys.cap = Some(super::keys::duration(argument)),
            "retry_if" => predicate = format!("on = {}", hook(argument, around.source)),
            "custom_backoff" => {
                keys.backoff = None;
                keys.unknown.push(format!(
                    "`custom_backoff({})` computes the delays: `backoff` takes a closure from the number of the retry to its delay",
                    written(argument)
                ));
            }
            name => keys
                .unknown
                .push(format!("`{name}` has no key here that is known")),
        }
    }
    keys.jitter = Some("\"none\"".to_owned());
    keys.accept();
    keys.hooks.push(predicate);
    Some(Site {
        by: "tryhard",
        operation,
        is_async: true,
        keys,
        wrapper: None,
        context: None,
    })
}

fn called(call: &ExprCall, around: &Around<'_>) -> Option<Foreign> {
    match &*call.func {
        Expr::Path(path) => (around.foreign)(&path.path),
        _ => None,
    }
}

/// `Retry::spawn(strategy, action)`, `backoff::retry(policy, operation)`.
fn function<'a>(call: &'a ExprCall, around: &Around<'_>) -> Option<Site<'a>> {
    let (package, path) = called(call, around)?;
    let path: Vec<_> = path.iter().map(String::as_str).collect();
    let arguments: Vec<&Expr> = call.args.iter().collect();
    let (by, library, is_async, wrapper) = match (package.as_str(), path.as_slice()) {
        ("tokio-retry", [.., "Retry" | "RetryIf", "spawn" | "start"]) => {
            ("tokio-retry", Library::TokioRetry, true, None)
        }
        ("tokio-retry2", [.., "Retry" | "RetryIf", "spawn" | "start" | "spawn_notify"]) => (
            "tokio-retry2",
            Library::TokioRetry,
            true,
            Some("tokio_retry2::RetryError"),
        ),
        ("backoff", [.., "future", "retry" | "retry_notify"]) => {
            ("backoff", Library::Backoff, true, Some("backoff::Error"))
        }
        ("backoff", [.., "retry" | "retry_notify"]) => {
            ("backoff", Library::Backoff, false, Some("backoff::Error"))
        }
        ("retry", [.., "retry"]) => ("retry", Library::Retry, false, None),
        _ => return None,
    };
    let [delays, operation, rest @ ..] = arguments.as_slice() else {
        return None;
    };
    let mut keys = delays::keys(library, delays, around.named);
    let (mut condition, mut notify) = (None, None);
    match (path.as_slice(), rest) {
        ([.., "RetryIf", _], [first, rest @ ..]) => {
            condition = Some(*first);
            notify = rest.first().copied();
        }
        (_, [first, ..]) => notify = Some(*first),
        _ => {}
    }
    let condition = condition.map(|it| hook(it, around.source));
    keys.hooks.push(match (wrapper, condition) {
        (None, None) => "on(_)".to_owned(),
        (None, Some(condition)) => format!("on = {condition}"),
        (Some(wrapper), None) => {
            format!("on = |error: &{wrapper}<_>| matches!(error, {wrapper}::Transient {{ .. }})")
        }
        (Some(wrapper), Some(condition)) => format!(
            "on = |error: &{wrapper}<_>| matches!(error, {wrapper}::Transient {{ err, .. }} if ({condition})(err))"
        ),
    });
    if let Some(notify) = notify {
        keys.unknown.push(format!(
            "`{}` sees each retry; here it is `on_retry = |retry| ...` with `retry.cause()` and `retry.delay()`",
            written(notify)
        ));
    }
    if let Some(wrapper) = wrapper {
        keys.differs.push(format!(
            "the body still speaks `{wrapper}`: return your own error from it, decide in `on` or by `#[derive(Classify)]`, and drop the `map_err`"
        ));
    }
    Some(Site {
        by,
        operation,
        is_async,
        keys,
        wrapper,
        context: None,
    })
}

/// A condition as a closure or a path.
fn hook(expr: &Expr, source: &Source<'_>) -> String {
    match expr {
        Expr::Closure(_) | Expr::Path(_) => source(expr),
        _ => format!("|error| ({})(error)", source(expr)),
    }
}

/// What sees an error and a delay, as `on_retry`.
fn notification(expr: &Expr, source: &Source<'_>) -> String {
    let (names, body) = match expr {
        Expr::Closure(closure) => {
            let name = |pattern: &Pat| match pattern {
                Pat::Type(it) => it.pat.to_token_stream().to_string(),
                it => it.to_token_stream().to_string(),
            };
            let names: Vec<_> = closure.inputs.iter().map(name).collect();
            (names, source(&closure.body))
        }
        _ => (Vec::new(), format!("({})(error, delay)", source(expr))),
    };
    let mut names = names.into_iter();
    let error = names.next().unwrap_or_else(|| "error".to_owned());
    let delay = names.next().unwrap_or_else(|| "delay".to_owned());
    format!(
        "on_retry = |retry| if let reattempt::attempt::Cause::Error({error}) = retry.cause() {{ let {delay} = retry.delay(); {body}; }}"
    )
}

impl Site<'_> {
    /// The expression that replaces it, awaited where it was.
    pub(super) fn code(&self, is_awaited: bool, source: &Source<'_>) -> String {
        if let Some(context) = self.context {
            return self.with_context(context, source);
        }
        let awaited = if is_awaited { ".await" } else { "" };
        let block = self.keys.block(&self.body(source), self.is_async);
        format!("{block}{awaited}{}", self.unwrapped())
    }

    /// What an attempt runs.
    pub(super) fn body(&self, source: &Source<'_>) -> String {
        Body::of(self.operation, self.is_async, source).statements
    }

    /// Whether the body can stand in a function of ours, which returns what it returns.
    pub(super) const fn is_plain(&self) -> bool {
        self.wrapper.is_none() && self.context.is_none()
    }

    fn unwrapped(&self) -> String {
        self.wrapper.map_or_else(String::new, |wrapper| {
            format!(
                ".map_err(|error| match error {{ {wrapper}::Permanent(error) | {wrapper}::Transient {{ err: error, .. }} => error }})"
            )
        })
    }

    fn with_context(&self, context: &Expr, source: &Source<'_>) -> String {
        let (operation, context) = (source(self.operation), source(context));
        let awaited = if self.is_async { ".await" } else { "" };
        let body = format!(
            "let operation = {operation};
let (next, answer) = operation(context.take().unwrap()){awaited};
context = Some(next);
answer"
        );
        let block = self.keys.block(&body, self.is_async);
        format!(
            "{{
    let mut context = Some({context});
    let answer = {block}{awaited};
    (context.unwrap(), answer)
}}"
        )
    }
}
