//! Texts that name a call, and what people expect of braces in them.

use syn::{Expr, ExprLit, Ident, Lit, Path};

/// What is said of a name that is another one for each call.
const SAME: &str = "a name is the same for all calls; write a text, `name = \"orders.send\"`, and what differs from call to call as `detail = ...`";

/// `name = format!("call-{x}")`, `name = service::charge`.
pub(super) fn name(value: &Expr, said: &str) -> Option<String> {
    match value {
        Expr::Path(path) => {
            let words = path.path.segments.iter().map(|it| it.ident.to_string());
            let words: Vec<_> = words.collect();
            // What ends in upper case is a constant, or a type.
            (!words.last()?.contains(char::is_uppercase))
                .then(|| format!("a name is a text; write `name = \"{}\"`", words.join(".")))
        }
        Expr::Field(_)
            if !said.contains(|it: char| {
                it.is_uppercase() || !(it.is_alphanumeric() || "_.".contains(it))
            }) && !said.starts_with("self.") =>
        {
            Some(format!("a name is a text; write `name = \"{said}\"`"))
        }
        Expr::Macro(mac) if mac.mac.path.is_ident("format") => Some(SAME.to_owned()),
        // `/users/{id}` is the route of all calls.
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => {
            let text = text.value().replace("/{", "/");
            formatted(&text).map(|_| SAME.to_owned())
        }
        _ => None,
    }
}

/// `budget = "SHARED"`.
pub(super) fn of_a_static(key: &str, value: &Expr) -> Option<String> {
    let Expr::Lit(ExprLit {
        lit: Lit::Str(text),
        ..
    }) = value
    else {
        return None;
    };
    let path = text.value();
    let last = path.rsplit("::").next()?;
    let is_static = syn::parse_str::<Path>(&path).is_ok() && !last.contains(char::is_lowercase);
    (is_static && path != "NONE")
        .then(|| format!("a `static` has no quotes; write `{key} = &{path}`"))
}

/// `detail = "get {id}"`.
pub(super) fn detail(value: &Expr) -> Option<String> {
    let Expr::Lit(ExprLit {
        lit: Lit::Str(text),
        ..
    }) = value
    else {
        return None;
    };
    let code = formatted(&text.value())?;
    Some(format!(
        "braces in a text stay as they are; write `detail = format_args!({code})`"
    ))
}

/// The arguments of `format_args!` for a text in which braces hold variables and fields; `{self.host}` stands behind it.
fn formatted(text: &str) -> Option<String> {
    let mut rest = text;
    let (mut pattern, mut values) = (String::new(), String::new());
    let mut found = false;
    while let Some((before, after)) = rest.split_once('{') {
        let (inside, after) = after.split_once('}')?;
        let (value, kind) = match inside.split_once(':') {
            Some((value, kind)) => (value, format!(":{kind}")),
            None => (inside, String::new()),
        };
        if syn::parse_str::<Ident>(value).is_ok() {
            pattern.extend([before, "{", inside, "}"]);
        } else {
            let code: Expr = syn::parse_str(value).ok()?;
            if !matches!(code, Expr::Field(_) | Expr::MethodCall(_)) {
                return None;
            }
            pattern.extend([before, "{", &kind, "}"]);
            values.extend([", ", value]);
        }
        found = true;
        rest = after;
    }
    pattern.push_str(rest);
    found.then(|| format!("{pattern:?}{values}"))
}
