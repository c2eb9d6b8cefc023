//! `policy = "storage"`: a policy that has a name in the configuration.

use reattempt_policy::rules::RuleId;
use reattempt_policy::written::policy_name;
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, Ident, Lit, LitStr};

use super::constant;
use crate::diagnostics::{Diagnostics, Place};
use crate::item::mentions;
use crate::model::{Inherited, Model, OperationName};

/// A policy that is an expression, or the name of one.
pub(super) fn inherited_or_named(
    policy: Option<Expr>,
    parameters: &[(Ident, bool)],
    faults: &mut Diagnostics,
) -> (Option<Inherited>, Option<LitStr>) {
    let Some(mut expr) = policy else {
        return (None, None);
    };
    // The expansion borrows it itself.
    while let Expr::Reference(borrowed) = expr {
        expr = *borrowed.expr;
    }
    if let Expr::Lit(literal) = &expr
        && !matches!(literal.lit, Lit::Str(_))
    {
        faults.push(
            literal.span(),
            RuleId::Type,
            "`policy` is a `Policy`, or the name of one; write `policy = POLICY` or `policy = \"storage\"`",
        );
        return (None, None);
    }
    let named = name_of(&expr, faults);
    let inherited = named.is_none().then(|| Inherited {
        constant: constant::is_constant(&expr, parameters),
        expr,
    });
    (inherited, named)
}

/// The name, if the policy is given by one.
fn name_of(expr: &Expr, faults: &mut Diagnostics) -> Option<LitStr> {
    let name = match expr {
        Expr::Lit(ExprLit {
            lit: Lit::Str(name),
            ..
        }) => name,
        Expr::Group(group) => return name_of(&group.expr, faults),
        Expr::Paren(paren) => return name_of(&paren.expr, faults),
        _ => return None,
    };
    if let Err((wrong, nearest)) = policy_name(&name.value()) {
        let nearest = nearest.as_deref().unwrap_or("storage");
        faults.push(
            name.span(),
            RuleId::R14,
            format!("the name of a policy {wrong}; write `policy = \"{nearest}\"`"),
        );
    }
    Some(name.clone())
}

/// All instances of a generic function share what they ask for, so the keys beside it are the same for all.
pub(super) fn shared(model: &Model, faults: &mut Diagnostics) {
    if model.named.is_none() {
        return;
    }
    for setting in &model.settings {
        let Some(running) = &setting.running else {
            continue;
        };
        let key = setting.key.as_str();
        faults.push(
            running.span(),
            RuleId::X15,
            format!("with a `policy` from the configuration, `{key}` must be a constant, but this value is known only at run time; write a constant, or `policy = ...` with an expression"),
        );
    }
    let settings = model.settings.iter();
    for setting in settings.filter(|setting| mentions(&setting.value, &model.generics)) {
        let span = setting
            .expression
            .unwrap_or_else(proc_macro2::Span::call_site);
        faults.push(
            span,
            RuleId::X15,
            format!(
                "beside a `policy` from the configuration `{}` is the same for all instances of a function, and cannot mention `Self` or a parameter; write a value or a constant",
                setting.key.as_str()
            ),
        );
    }
    let is_instance_name =
        matches!(&model.name, OperationName::Given(name) if mentions(name, &model.generics));
    if is_instance_name {
        faults.push(
            model.error_span,
            RuleId::X15,
            "beside a `policy` from the configuration `name` is the same for all instances of a function, and cannot mention `Self` or a parameter; write a text or a constant",
        );
    }
}

/// A time-out for each attempt, where the configuration may set one for all.
pub(super) fn no_timeout_by(
    named: Option<&LitStr>,
    timeout_by: Option<&Expr>,
    faults: &mut Diagnostics,
) {
    if let (Some(name), Some(timeout)) = (named, timeout_by) {
        let name = name.value();
        faults.push(
            Place::of(timeout),
            RuleId::Type,
            format!("the policy \"{name}\" of the configuration has one `timeout` for all attempts; write a duration, such as `timeout = \"2s\"`, or drop `policy`"),
        );
    }
}
