//! Rules about `strategy`, and what has no effect beside it.

use reattempt_policy::Values;
use reattempt_policy::rules::{Key, RuleId};
use syn::Expr;
use syn::spanned::Spanned as _;

use super::together::async_closure;
use crate::args::Args;
use crate::diagnostics::Diagnostics;

/// X11: what a strategy decides nobody else does. The keys beside it are taken out, so that no other rule reads
/// them. The policy that the other keys start from.
pub(super) fn alone(args: &mut Args, faults: &mut Diagnostics) -> Values {
    let Some(strategy) = &args.strategy else {
        return Values::new();
    };
    if let Ok(given) = &strategy.given {
        no_strategy(given, faults);
    }
    if let Some(policy) = args.policy.take() {
        faults.push(
            policy.key,
            RuleId::X11,
            "`policy` and `strategy` both set how often and after which delays a call retries; drop one of them, and write the policy's other settings as keys",
        );
    }
    for key in Key::DELAYS {
        if let Some(span) = args.take_key(key) {
            faults.push(
                span,
                RuleId::X11,
                format!(
                    "`{key}` has no effect beside `strategy`, which sets the delays; drop `{key}` or `strategy`"
                ),
            );
        }
    }
    Values::new().decided()
}

/// What certainly decides nothing.
fn no_strategy(given: &Expr, faults: &mut Diagnostics) {
    if let Expr::Lit(literal) = given {
        faults.push(
            literal.span(),
            RuleId::S9,
            "`strategy` is a value that implements `Strategy`, or a closure; write `backoff = \"exp\"` for one of the shapes, or `strategy = |failure| ...`",
        );
    }
    if let Some(span) = async_closure(given) {
        faults.push(
            span,
            RuleId::S9,
            "`strategy` decides at once and cannot be async; make the closure sync",
        );
    }
}
