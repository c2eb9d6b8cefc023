//! Calls of other retry libraries: which expressions they are, and what replaces them.

mod replacements;

use syn::visit::Visit;
use syn::{Expr, ExprCall, ExprMethodCall};

use self::replacements::{hook, notification, takes_error};
use super::body::Source;
use super::brief;
use super::delays::{self, Library, Named};
use super::keys::{ASKED, Keys, duration, named_duration, without_key};
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
    /// Whether a function of this name returns an `OperationResult` of the crate retry.
    pub(super) tells_apart: &'a dyn Fn(&str) -> bool,
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
    /// How its attempts end, if they are those of the crate retry.
    of_retry: Option<OfRetry>,
}

/// An operation of the crate retry.
#[derive(Clone, Copy)]
struct OfRetry {
    /// It returns an `OperationResult`, whose `Err` is final.
    tells_apart: bool,
    /// It takes the number of the attempt.
    takes_number: bool,
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
        keys.missing.push(format!(
            "the code changes `{}` after it makes it: the keys above are those at first",
            written(name)
        ));
    }
    let (mut is_async, mut context, mut predicate, mut adjusts) = (true, None, None, None);
    let mut others = Vec::new();
    for call in behind.iter().rev() {
        let argument = call.args.first();
        match (call.method.to_string().as_str(), argument) {
            ("when", Some(when)) => predicate = Some(hook(when, around.source)),
            ("notify", Some(notify)) => others.push(notification(notify, None, around.source)),
            ("call", _) => is_async = false,
            ("context", Some(given)) => context = Some(given),
            // So does a block that is not `async`.
            ("sleep", Some(sleep)) if written(sleep) == "std::thread::sleep" => {}
            ("sleep", Some(sleep)) => keys.unknown.push(format!(
                "`.sleep({})` is the key `timer` here; without it the feature `tokio` or `smol` of the library sleeps",
                written(sleep)
            )),
            ("adjust", Some(adjust)) => adjusts = Some(adjust),
            _ => {}
        }
    }
    keys.hooks.push(match (&predicate, adjusts) {
        (Some(predicate), _) => format!("on = {predicate}"),
        (None, Some(_)) => "on = ...".to_owned(),
        (None, None) => "on(_)".to_owned(),
    });
    if let Some(adjust) = adjusts {
        keys.missing.push(format!(
            "`.adjust({})` ends the call with `None`, which is `on` here, and changes the delay after an error, which is `retry_after`; the error's `Classify` can say both",
            brief(&written(adjust))
        ));
    }
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
        of_retry: None,
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
                keys.base = Some(named_duration(argument, around.named));
            }
            "exponential_backoff" => {
                keys.backoff = None;
                keys.base = Some(named_duration(argument, around.named));
            }
            "max_delay" => keys.cap = Some(duration(argument)),
            "retry_if" => predicate = format!("on = {}", hook(argument, around.source)),
            "custom_backoff" => {
                keys.backoff = None;
                keys.missing.push(format!(
                    "`custom_backoff({})` computes the delays: `backoff` takes a closure from the number of the retry to its delay",
                    written(argument)
                ));
            }
            name => {
                // Delays of another form.
                keys.backoff = keys.backoff.filter(|_| !name.ends_with("_backoff"));
                keys.missing.push(without_key(call));
            }
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
        of_retry: None,
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
        ("retry", [.., "retry" | "retry_with_index"]) => ("retry", Library::Retry, false, None),
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
    let of_retry = (library == Library::Retry).then(|| OfRetry {
        tells_apart: tells_apart(operation, around),
        takes_number: path.ends_with(&["retry_with_index"]),
    });
    let condition = condition.map(|it| hook(it, around.source));
    keys.hooks.push(match (wrapper, condition) {
        (None, None) if of_retry.is_some_and(|it| it.tells_apart) => "on((true, _))".to_owned(),
        (None, None) => "on(_)".to_owned(),
        (None, Some(condition)) => format!("on = {condition}"),
        (Some(wrapper), None) => {
            format!("on = |error: &{wrapper}<_>| matches!(error, {wrapper}::Transient {{ .. }})")
        }
        (Some(wrapper), Some(condition)) => format!(
            "on = |error: &{wrapper}<_>| matches!(error, {wrapper}::Transient {{ err, .. }} if ({condition})(err))"
        ),
    });
    if let Some(wrapper) = wrapper {
        keys.hooks.push(format!(
            "retry_after = |error: &{wrapper}<_>| match error {{ {wrapper}::Transient {{ retry_after, .. }} => *retry_after, _ => None }}"
        ));
        keys.differs.push(ASKED.to_owned());
    }
    match notify {
        // backoff alone hands it the error.
        Some(notify) if library == Library::Backoff && takes_error(notify) => {
            keys.missing.push(format!(
                "`on_retry`, for `{}`: it takes the error, and a hook sees a reference to it",
                brief(&written(notify))
            ));
        }
        Some(notify) => keys
            .hooks
            .push(notification(notify, wrapper, around.source)),
        None => {}
    }
    if let Some(of_retry) = of_retry {
        keys.missing.push("what takes the answer: the error is not in a `retry::Error` here, so that `error.error` is `error`, and nothing counts `tries`".to_owned());
        if of_retry.takes_number {
            keys.hooks.push("context = attempt".to_owned());
        }
        if of_retry.tells_apart {
            keys.differs.push("`OperationResult::Err` is not retried: the `bool` beside the error says so; return your own error from the body, decide in `on` or by `#[derive(Classify)]`, and both go".to_owned());
        }
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
        of_retry,
    })
}

/// Whether the operation, or a function that it names, returns an `OperationResult`.
fn tells_apart(operation: &Expr, around: &Around<'_>) -> bool {
    struct Search<'s, 'a>(&'s Around<'a>, bool);
    impl<'ast> Visit<'ast> for Search<'_, '_> {
        fn visit_path(&mut self, path: &'ast syn::Path) {
            let is_it = |name: &String| name == "OperationResult";
            let foreign = (self.0.foreign)(path).filter(|(package, _)| package == "retry");
            let mut names = path.segments.iter().map(|it| it.ident.to_string());
            self.1 |= foreign.is_some_and(|(_, path)| path.iter().any(is_it))
                || names.any(|it| is_it(&it) || (self.0.tells_apart)(&it));
            syn::visit::visit_path(self, path);
        }
        fn visit_expr_method_call(&mut self, it: &'ast ExprMethodCall) {
            self.1 |= (self.0.tells_apart)(&it.method.to_string());
            syn::visit::visit_expr_method_call(self, it);
        }
    }
    let mut search = Search(around, false);
    search.visit_expr(operation);
    search.1
}
