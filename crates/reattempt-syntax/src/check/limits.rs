//! Keys that bound attempts besides the policy: `budget`, `breaker`, `bulkhead`, `throttle`, `hedge`.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote_spanned};
use reattempt_policy::rules::{self, Key, RuleId};
use syn::spanned::Spanned as _;
use syn::{Expr, Ident};

use super::{Draft, literal_value};
use super::{constant, running};
use crate::args::{Args, Code, Given, Value};
use crate::diagnostics::{Diagnostics, Place};
use crate::literal::{Copies, Literal as _, Share};
use crate::model::{BudgetSource, Hedging, Setting, at, located};
use crate::slips;
use crate::tokens::written;

impl Draft<'_> {
    /// Where the budget comes from; a constant one becomes part of the policy.
    pub(super) fn budget(
        &mut self,
        value: Option<Value<Share>>,
        parameters: &[(Ident, bool)],
    ) -> Option<BudgetSource> {
        let Value { key, given } = value?;
        let (source, reference, place) = match given {
            Given::Wrong(fault) => {
                self.faults.add(fault);
                return None;
            }
            Given::Literal(Share::None, place) => (BudgetSource::Never, TokenStream::new(), place),
            Given::Literal(share, place) => (
                BudgetSource::Own(share.tokens(&self.krate)),
                own_budget(),
                place,
            ),
            Given::Expression(expr) => {
                let (span, place) = (expr.span(), Place::of(&expr));
                if constant::builds(&expr, "Budget") {
                    (BudgetSource::Own(ours!(#expr)), own_budget(), place)
                } else if !constant::names_static(&expr, parameters) {
                    (BudgetSource::Borrowed(expr), TokenStream::new(), place)
                } else if matches!(expr, Expr::Path(_)) {
                    let krate = located(self.krate.clone(), span);
                    let own = own_budget();
                    let chosen = quote_spanned!(at(span)=> match #expr { budget => #krate::__private::BudgetOf(budget).or(#own) });
                    (BudgetSource::Named(expr), chosen, place)
                } else {
                    let krate = located(self.krate.clone(), span);
                    let shared = quote_spanned!(at(span)=> #krate::__private::of_static(#expr));
                    (BudgetSource::Shared, shared, place)
                }
            }
        };
        self.known = if let BudgetSource::Never = source {
            self.known.without_budget()
        } else {
            self.known.budgeted()
        };
        self.places.push((Key::Budget, key, place));
        self.settings.push(Setting {
            key: Key::Budget,
            word: key,
            place: place.first(),
            value: reference,
            expression: None,
            running: None,
        });
        Some(source)
    }
}

/// The `static` that an expansion makes of a budget of the operation's own.
fn own_budget() -> TokenStream {
    ours!(&__REATTEMPT_BUDGET)
}

/// When copies of a slow attempt are started.
pub(super) fn hedging(
    value: Option<Value<Copies>>,
    krate: &TokenStream,
    parameters: &[(Ident, bool)],
    faults: &mut Diagnostics,
) -> Option<Hedging> {
    match value?.given {
        Given::Wrong(fault) => {
            faults.add(fault);
            None
        }
        Given::Literal(copies, span) => Some(Hedging {
            value: copies.tokens(krate),
            is_literal: true,
            measures: matches!(copies, Copies::Quantile(_)),
            span: span.first(),
        }),
        Given::Expression(expr) => {
            if running::names_parameter(&expr, parameters) {
                faults.push(
                    expr.span(),
                    RuleId::Type,
                    "`hedge` must be a constant, but this value is known only at run time; write `hedge = \"50ms\"` or a constant",
                );
            }
            Some(Hedging {
                span: expr.span(),
                value: ours!(#expr),
                is_literal: false,
                measures: true,
            })
        }
    }
}

/// Rules about a hedge and the keys beside it.
pub(super) fn hedge_rules(args: &Args, faults: &mut Diagnostics) {
    let Some(hedge) = &args.hedge else {
        return;
    };
    if let Some(false) = literal_value(args.idempotent.as_ref()) {
        faults.push(
            hedge.key,
            RuleId::X12,
            "`hedge` runs an operation twice at the same time, and `idempotent = false` forbids that; drop one of them",
        );
    }
    let Given::Literal(Copies::After(delay), span) = &hedge.given else {
        return;
    };
    let timeout = literal_value(args.timeout.as_ref());
    let deadline = literal_value(args.deadline.as_ref());
    let refusal = timeout
        .and_then(|timeout| rules::hedge_beyond_timeout(1, *delay, timeout))
        .or_else(|| {
            deadline.and_then(|deadline| rules::hedge_beyond_deadline(1, *delay, deadline))
        });
    if let Some(refusal) = refusal {
        faults.push(*span, refusal.rule(), refusal.message());
    }
}

/// What may turn a call away, with the name of its type.
fn gate_types(args: &Args) -> [(&'static str, &'static str, &Option<Code>); 3] {
    [
        ("breaker", "Breaker", &args.breaker),
        ("bulkhead", "Bulkhead", &args.bulkhead),
        ("throttle", "Throttle", &args.throttle),
    ]
}

/// The keys that are given of a breaker, a bulkhead and a throttle.
pub(super) fn gates(args: &Args) -> impl Iterator<Item = (&'static str, proc_macro2::Span)> {
    gate_types(args)
        .into_iter()
        .filter_map(|(key, _, code)| code.as_ref().map(|code| (key, code.key)))
}

/// `breaker = 5`: nothing to share.
pub(super) fn no_gate(args: &Args, faults: &mut Diagnostics) {
    for (key, kind, code) in gate_types(args) {
        let Some(Ok(given)) = code.as_ref().map(|code| &code.given) else {
            continue;
        };
        let upper = kind.to_uppercase();
        if let Expr::Lit(literal) = given {
            let text = slips::no_static(key, kind, Some(&literal.lit));
            faults.push(literal.span(), RuleId::Type, text);
        } else if constant::builds(given, kind) {
            let made = written(&given.to_token_stream());
            faults.push(
                Place::of(given),
                RuleId::Type,
                format!(
                    "each call would make a new {key}, which never sees the other calls; write `static {upper}: reattempt::{kind} = {made};` and `{key} = &{upper}`"
                ),
            );
        }
    }
}
