//! What stands in the place of a call of another library.

use std::collections::BTreeSet;

use quote::ToTokens as _;
use syn::{Expr, Pat};

use super::{OfRetry, Site};
use crate::suggest::body::{Body, Source};
use crate::suggest::loops::{Bound, rendered};

/// A condition as a closure or a path.
pub(super) fn hook(expr: &Expr, source: &Source<'_>) -> String {
    match expr {
        Expr::Closure(_) | Expr::Path(_) => source(expr),
        _ => format!("|error| ({})(error)", source(expr)),
    }
}

/// Whether it needs the error, and not a reference to it.
pub(super) fn takes_error(notify: &Expr) -> bool {
    let Expr::Closure(closure) = notify else {
        return true;
    };
    let Some(error) = closure.inputs.first().map(|it| Bound::of(it).all()) else {
        return false;
    };
    let values = |of: &BTreeSet<String>| rendered(&closure.body, of).matches('*').count();
    values(&error) > values(&BTreeSet::new())
}

/// What sees an error and a delay, as `on_retry`.
pub(super) fn notification(expr: &Expr, wrapper: Option<&str>, source: &Source<'_>) -> String {
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
    if let Some(wrapper) = wrapper {
        return format!(
            "on_retry = |retry| if let Some({wrapper}::Transient {{ err: {error}, .. }}) = retry.error() {{ let {delay} = retry.delay(); {body}; }}"
        );
    }
    format!(
        "on_retry = |retry| if let Some({error}) = retry.error() {{ let {delay} = retry.delay(); {body}; }}"
    )
}

impl Site<'_> {
    /// The expression that replaces it, awaited where it was.
    pub(in crate::suggest) fn code(&self, is_awaited: bool, source: &Source<'_>) -> String {
        if let Some(context) = self.context {
            return self.with_context(context, source);
        }
        let awaited = if is_awaited { ".await" } else { "" };
        let body = match self.of_retry {
            Some(of_retry) => self.of_retry(of_retry, source),
            None => self.body(source),
        };
        let block = self.keys.block(&body, self.is_async);
        format!("{block}{awaited}{}", self.unwrapped())
    }

    /// Whether the answer becomes another one behind the `.await`.
    pub(in crate::suggest) const fn ends_behind_await(&self) -> bool {
        self.is_async && (self.wrapper.is_some() || self.context.is_some())
    }

    /// What an attempt runs.
    pub(in crate::suggest) fn body(&self, source: &Source<'_>) -> String {
        Body::of(self.operation, self.is_async, source).statements
    }

    /// Whether the body can stand in a function of ours, which returns what it returns.
    pub(in crate::suggest) const fn is_plain(&self) -> bool {
        self.wrapper.is_none() && self.context.is_none() && self.of_retry.is_none()
    }

    /// The body of an attempt of the crate retry, whose error says whether another one may follow.
    fn of_retry(&self, of: OfRetry, source: &Source<'_>) -> String {
        if !of.tells_apart && !of.takes_number {
            return self.body(source);
        }
        let number = if of.takes_number {
            "attempt.number().into()"
        } else {
            ""
        };
        let operation = source(self.operation);
        let called = match self.operation {
            Expr::Path(_) => format!("{operation}({number})"),
            _ => format!("({operation})({number})"),
        };
        if !of.tells_apart {
            return called;
        }
        format!(
            "match {called} {{
            ::retry::OperationResult::Ok(value) => Ok(value),
            ::retry::OperationResult::Retry(error) => Err((true, error)),
            ::retry::OperationResult::Err(error) => Err((false, error)),
        }}"
        )
    }

    fn unwrapped(&self) -> String {
        if self.of_retry.is_some_and(|it| it.tells_apart) {
            return ".map_err(|(_, error)| error)".to_owned();
        }
        // `backoff::retry` gives the error as the operation does.
        let wrapper = self.wrapper.filter(|_| self.is_async);
        wrapper.map_or_else(String::new, |wrapper| {
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
