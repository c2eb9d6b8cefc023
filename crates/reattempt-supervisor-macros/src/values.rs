//! Values -> their tokens; this reports what is wrong with a value.
//!
//! ```text
//! complete_by = "30s"   ->   Some(Duration::new(30, 0))
//! version = VERSION     ->   VERSION
//! ```

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use reattempt_policy::duration::Human;
use reattempt_policy::rules::RuleId;
use syn::Path;

use crate::args::{Choice, Krate, Number};
use crate::limit::Limit;
use reattempt_syntax::args::{Given, Value};
use reattempt_syntax::diagnostics::Diagnostics;
use reattempt_syntax::literal::{Attempts, Literal, Name};

/// Returns `Some(duration)` or `None`.
pub(crate) fn limit(value: Option<Value<Limit>>, faults: &mut Diagnostics) -> TokenStream {
    let limit = match value.map(|value| value.given) {
        None => return ours!(::core::option::Option::None),
        Some(Given::Literal(limit, span)) => {
            if limit.0.is_zero() {
                faults.push(
                    span,
                    RuleId::D2,
                    "`complete_by` of 0 leaves no time; write a longer one, such as \"30s\", or drop it",
                );
            }
            limit.tokens(&TokenStream::new())
        }
        Some(Given::Expression(expression)) => expression.into_token_stream(),
        Some(Given::Wrong(fault)) => {
            faults.add(fault);
            return ours!(::core::option::Option::None);
        }
    };
    ours!(::core::option::Option::Some(#limit))
}

/// Checks that `deadline` and `timeout` of the attempts are not above `complete_by` of the step.
pub(crate) fn check_limits(
    complete_by: Option<&Value<Limit>>,
    retries: Option<&TokenStream>,
    faults: &mut Diagnostics,
) {
    let (Some(complete_by), Some(retries)) = (complete_by, retries) else {
        return;
    };
    let Given::Literal(limit, _) = &complete_by.given else {
        return;
    };
    // The inner attribute reports what else is wrong with them.
    let keys = reattempt_syntax::args::parse(retries.clone(), &mut Diagnostics::default());
    for (key, value) in [("deadline", keys.deadline), ("timeout", keys.timeout)] {
        if let Some(Given::Literal(value, span)) = value.map(|value| value.given)
            && value > limit.0
            && !limit.0.is_zero()
        {
            let (value, limit) = (Human(value), Human(limit.0));
            faults.push(
                span,
                RuleId::D3,
                format!(
                    "`{key}` of {value} is above `complete_by` of {limit}, which ends the step earlier; lower `{key}`, or raise `complete_by`"
                ),
            );
        }
    }
}

/// Checks that a step which must not run twice leaves `max = 1` out: the rules of the inner attribute would call
/// `idempotent` the key to drop.
pub(crate) fn check_one_attempt(retries: TokenStream, faults: &mut Diagnostics) -> bool {
    let keys = reattempt_syntax::args::parse(retries, &mut Diagnostics::default());
    let idempotent = keys.idempotent.map(|value| value.given);
    let max = keys.max.map(|value| (value.key, value.given));
    let (Some(Given::Literal(false, _)), Some((key, Given::Literal(Attempts(1), _)))) =
        (idempotent, max)
    else {
        return true;
    };
    faults.push(
        key,
        RuleId::X5,
        "`idempotent = false` allows a second attempt only after errors that show that nothing ran; drop `max = 1`, and \
         write `on = |_| Verdict::Permanent` if no error shows it",
    );
    false
}

/// Returns the name, or the default.
pub(crate) fn name(
    value: Option<Value<Name>>,
    default: &str,
    faults: &mut Diagnostics,
) -> TokenStream {
    match value.map(|value| value.given) {
        None => ours!(#default),
        Some(Given::Literal(name, _)) => name.tokens(&TokenStream::new()),
        Some(Given::Expression(expression)) => expression.into_token_stream(),
        Some(Given::Wrong(fault)) => {
            faults.add(fault);
            ours!("")
        }
    }
}

/// Returns the number, or the default.
pub(crate) fn number(
    number: Option<Number>,
    default: i32,
    faults: &mut Diagnostics,
) -> TokenStream {
    match number.map(|number| number.0) {
        None => ours!(#default),
        Some(Given::Literal(number, _)) => ours!(#number),
        Some(Given::Expression(expression)) => expression.into_token_stream(),
        Some(Given::Wrong(fault)) => {
            faults.add(fault);
            ours!(#default)
        }
    }
}

/// Returns the chosen one of `words`, or `None` if there is no value or a wrong one.
pub(crate) fn choice(
    key: &str,
    words: &[&'static str],
    choice: Option<Choice>,
    faults: &mut Diagnostics,
) -> Option<&'static str> {
    let Choice(text, span) = choice?;
    let found = words.iter().find(|word| text.as_deref() == Some(*word));
    if found.is_none() {
        let all: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let first = all.first().map_or("", String::as_str);
        let is_or_are = if words.len() == 1 { "is" } else { "is one of" };
        let all = all.join(", ");
        let message = format!("`{key}` {is_or_are} {all}; write `{key} = {first}`");
        faults.push(span, RuleId::D5, message);
    }
    found.copied()
}

/// Returns the path of the crate.
pub(crate) fn krate(path: Option<Krate>, faults: &mut Diagnostics) -> TokenStream {
    let path = path.and_then(|path| path.0.map_err(|fault| faults.add(fault)).ok());
    path.map_or_else(|| ours!(::reattempt_supervisor), Path::into_token_stream)
}
