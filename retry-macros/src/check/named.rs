//! `policy = "storage"`: a policy that has a name in the configuration.

use syn::{Expr, ExprLit, Ident, Lit, LitStr};

use super::constant;
use crate::config;
use crate::expand::mentions;
use crate::faults::Faults;
use crate::model::{Inherited, Model};

/// A policy that is an expression, or the name of one.
pub(super) fn told_apart(
    policy: Option<Expr>,
    parameters: &[(Ident, bool)],
    faults: &mut Faults,
) -> (Option<Inherited>, Option<LitStr>) {
    let Some(expr) = policy else {
        return (None, None);
    };
    let named = name_of(&expr, faults);
    let inherited = named.is_none().then(|| Inherited {
        constant: constant::is_constant(&expr, parameters),
        expr,
    });
    (inherited, named)
}

/// The name, if the policy is given by one.
fn name_of(expr: &Expr, faults: &mut Faults) -> Option<LitStr> {
    let name = match expr {
        Expr::Lit(ExprLit {
            lit: Lit::Str(name),
            ..
        }) => name,
        Expr::Group(group) => return name_of(&group.expr, faults),
        Expr::Paren(paren) => return name_of(&paren.expr, faults),
        _ => return None,
    };
    let text = name.value();
    if text.is_empty() {
        faults.push(
            name.span(),
            "the name of a policy is not empty; write `policy = \"storage\"`",
        );
    } else if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        let mended = text.split_whitespace().collect::<Vec<_>>().join("_");
        faults.push(
            name.span(),
            format!(
                "the name of a policy has no spaces or control characters; write `policy = \"{mended}\"`"
            ),
        );
    } else if !config::is_on() {
        faults.push(
            name.span(),
            format!(
                "`policy = \"{text}\"` needs the feature `config` of `reattempt`; turn it on, or name a constant, as in `policy = STORAGE`"
            ),
        );
    }
    Some(name.clone())
}

/// All instances of a generic function share what they ask for, so the keys beside it are the same for all.
pub(super) fn shared(model: &Model, faults: &mut Faults) {
    if model.named.is_none() {
        return;
    }
    let settings = model.settings.iter();
    for setting in settings.filter(|setting| mentions(&setting.value, &model.generics)) {
        let span = setting
            .expression
            .unwrap_or_else(proc_macro2::Span::call_site);
        faults.push(
            span,
            format!(
                "beside a `policy` from the configuration `{}` is the same for all instances of a function, and cannot mention `Self` or a parameter; write a value or a constant",
                setting.key.word()
            ),
        );
    }
    if mentions(&model.name, &model.generics) {
        faults.push(
            model.error_span,
            "beside a `policy` from the configuration `name` is the same for all instances of a function, and cannot mention `Self` or a parameter; write a text or a constant",
        );
    }
}
