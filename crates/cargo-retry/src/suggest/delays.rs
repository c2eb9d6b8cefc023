//! The delays of other libraries, from the expression that makes them.

use syn::{Expr, ExprMethodCall};

use super::keys::{Keys, duration, float, integer, millis, named_duration, without_key};
use crate::code::written;

/// How a policy differs whose delays grow for ever.
const UNBOUNDED: &str =
    "the delays of the library have no maximum; here it is 20 s, and `cap` sets another";

/// Whose builder it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Library {
    Backon,
    Backoff,
    TokioRetry,
    Retry,
}

/// What a name in the function or the module is set to.
pub(super) type Named<'a> = dyn Fn(&str) -> Option<Expr> + 'a;

/// The keys of the policy that `expr` makes.
pub(super) fn keys(library: Library, expr: &Expr, named: &Named<'_>) -> Keys {
    let mut keys = Keys::default();
    if !read(library, expr, named, &mut keys, 0) {
        keys = defaults(library);
        let above = match library {
            Library::Backon => "the keys above are the defaults of backon",
            Library::Backoff => "the keys above are the defaults of backoff",
            Library::TokioRetry => "tokio-retry has no default, so the keys above are an example",
            Library::Retry => "the library has no default, so the keys above are an example",
        };
        keys.missing.push(format!(
            "the policy `{}` is made elsewhere: {above}; write its values, or `policy = {}` once that is a `reattempt::Policy`",
            written(expr),
            written(expr),
        ));
    }
    keys.accept();
    let is_bounded = keys.cap.is_some() || matches!(keys.backoff, Some("fixed" | "none"));
    if keys.base.is_some() && !is_bounded {
        keys.differs.push(UNBOUNDED.to_owned());
    }
    keys
}

fn defaults(library: Library) -> Keys {
    let text = |text: &str| Some(text.to_owned());
    match library {
        Library::Backon => Keys {
            max: text("4"),
            base: text("\"1s\""),
            cap: text("\"60s\""),
            jitter: text("\"none\""),
            ..Keys::default()
        },
        Library::Backoff => Keys {
            max: text("\"unlimited\""),
            base: text("\"500ms\""),
            factor: text("1.5"),
            cap: text("\"60s\""),
            jitter: text("0.5"),
            deadline: text("\"15m\""),
            ..Keys::default()
        },
        Library::TokioRetry | Library::Retry => Keys {
            max: text("3"),
            jitter: text("\"none\""),
            ..Keys::default()
        },
    }
}

/// Names lead to names.
const DEEPEST: u32 = 16;

/// Whether `expr` is a builder of the library, whose settings go into `keys`.
fn read(library: Library, expr: &Expr, named: &Named<'_>, keys: &mut Keys, depth: u32) -> bool {
    if depth > DEEPEST {
        return false;
    }
    let read = |expr: &Expr, keys: &mut Keys| read(library, expr, named, keys, depth + 1);
    match expr {
        Expr::Reference(it) => read(&it.expr, keys),
        Expr::Paren(it) => read(&it.expr, keys),
        Expr::Path(path) => match path.path.get_ident() {
            Some(name) => named(&name.to_string()).is_some_and(|it| read(&it, keys)),
            None => false,
        },
        Expr::Call(call) => match &*call.func {
            Expr::Path(function) => {
                let path: Vec<_> = function.path.segments.iter().collect();
                let [.., ty, made] = path.as_slice() else {
                    return false;
                };
                let (ty, made) = (ty.ident.to_string(), made.ident.to_string());
                root(library, [&ty, &made], call.args.first(), named, keys)
            }
            _ => false,
        },
        Expr::Struct(it) => {
            let name = it.path.segments.last().map(|it| it.ident.to_string());
            if library != Library::Backoff || name.as_deref() != Some("ExponentialBackoff") {
                return false;
            }
            *keys = defaults(library);
            for field in &it.fields {
                if let syn::Member::Named(name) = &field.member {
                    backoff(&name.to_string(), &field.expr, keys);
                }
            }
            true
        }
        Expr::MethodCall(call) => {
            if !read(&call.receiver, keys) {
                return false;
            }
            set(library, call, named, keys);
            true
        }
        _ => false,
    }
}

/// `Type::made(argument)`.
fn root(
    library: Library,
    [ty, made]: [&str; 2],
    argument: Option<&Expr>,
    named: &Named<'_>,
    keys: &mut Keys,
) -> bool {
    *keys = defaults(library);
    match (library, ty, made) {
        (Library::Backon, "ExponentialBuilder", _) | (Library::Backoff, _, "default" | "new") => {}
        (Library::Backon, "ConstantBuilder", _) => keys.backoff = Some("fixed"),
        (Library::Backon, "FibonacciBuilder", _) => keys.backoff = Some("fibonacci"),
        (Library::TokioRetry | Library::Retry, ty, _) => {
            keys.unlimited();
            return strategy([ty, made], argument, named, keys);
        }
        _ => return false,
    }
    true
}

/// The strategies of tokio-retry, and the delays of retry.
fn strategy(
    [ty, made]: [&str; 2],
    argument: Option<&Expr>,
    named: &Named<'_>,
    keys: &mut Keys,
) -> bool {
    let length = |argument: &Expr| {
        if made == "from_millis" {
            millis(argument)
        } else {
            named_duration(argument, named)
        }
    };
    match (ty, argument) {
        ("ExponentialBackoff", Some(base)) => {
            // The argument is the base of a power, and `factor` its unit.
            keys.base = Some(millis(base));
            match integer(base) {
                Some(1) => keys.backoff = Some("fixed"),
                Some(number) => keys.factor = Some(format!("{number}.0")),
                None => {
                    keys.factor = Some("2.0".to_owned());
                    keys.missing.push(format!(
                        "`from_millis({0})` is the base of a power there: the second delay is `{0}` squared; `factor` is 2 here",
                        written(base)
                    ));
                }
            }
        }
        ("Exponential", Some(base)) => keys.base = Some(length(base)),
        ("FixedInterval" | "Fixed", Some(delay)) => {
            (keys.backoff, keys.base) = (Some("fixed"), Some(length(delay)));
        }
        ("FibonacciBackoff" | "Fibonacci", Some(delay)) => {
            (keys.backoff, keys.base) = (Some("fibonacci"), Some(length(delay)));
        }
        ("NoDelay", None) => keys.backoff = Some("none"),
        _ => return false,
    }
    true
}

/// A method of a builder.
fn set(library: Library, call: &ExprMethodCall, named: &Named<'_>, keys: &mut Keys) {
    let name = call.method.to_string();
    let argument = call.args.first();
    match (name.as_str(), argument) {
        ("build" | "clone" | "into_iter" | "iter" | "cloned", _) => {}
        ("take" | "with_max_times", Some(retries)) => keys.retries(retries),
        ("without_max_times", _) => keys.unlimited(),
        ("map", Some(jitter)) if written(jitter).contains("jitter") => {
            keys.jitter = Some("\"full\"".to_owned());
        }
        ("with_jitter", _) => {
            keys.jitter = None;
            keys.differs.push(
                "backon adds up to 100 % to a delay, also above its maximum; here jitter is full: from 0 to the delay, never above `cap`".to_owned(),
            );
        }
        ("with_factor", Some(factor)) => keys.factor = Some(float(factor)),
        ("factor", Some(unit)) if library == Library::TokioRetry => {
            let base = keys.factor.as_deref().unwrap_or("1.0");
            let base: Option<f64> = base.parse().ok();
            match (base, integer(unit)) {
                (Some(base), Some(unit)) => {
                    keys.base = Some(format!(
                        "\"{}ms\"",
                        base * f64::from(u32::try_from(unit).unwrap_or(u32::MAX))
                    ));
                }
                _ => keys.missing.push(format!(
                    "`factor({})` multiplies each delay; write the product as `base`",
                    written(unit)
                )),
            }
        }
        ("with_min_delay" | "with_delay", Some(delay)) => {
            keys.base = Some(named_duration(delay, named));
        }
        ("with_max_delay" | "max_delay", Some(delay)) => keys.cap = Some(duration(delay)),
        ("max_delay_millis", Some(delay)) => keys.cap = Some(millis(delay)),
        ("without_max_delay", _) => keys.cap = Some("\"24h\"".to_owned()),
        ("with_total_delay", Some(limit)) => {
            keys.deadline = Some(option(limit));
            keys.differs.push(
                "`with_total_delay` counts delays alone; `deadline` counts the attempts too"
                    .to_owned(),
            );
        }
        (name, Some(value)) if library == Library::Backoff => {
            backoff(name.strip_prefix("with_").unwrap_or(name), value, keys);
        }
        _ => keys.missing.push(without_key(call)),
    }
}

/// A setting of the builder of backoff, or a field.
fn backoff(name: &str, value: &Expr, keys: &mut Keys) {
    match name {
        "initial_interval" | "current_interval" => keys.base = Some(duration(value)),
        "multiplier" => keys.factor = Some(float(value)),
        "max_interval" => keys.cap = Some(duration(value)),
        "randomization_factor" => keys.jitter = Some(float(value)),
        "max_elapsed_time" => {
            keys.deadline = match value {
                Expr::Path(path) if path.path.is_ident("None") => None,
                value => Some(option(value)),
            };
        }
        _ => {}
    }
}

/// The duration in `Some(duration)`.
fn option(expr: &Expr) -> String {
    match expr {
        Expr::Call(call) if written(&call.func) == "Some" => {
            call.args.first().map_or_else(|| written(expr), duration)
        }
        expr => duration(expr),
    }
}
