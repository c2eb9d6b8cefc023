//! The loop of an async function.
//!
//! ```text
//! static SITE: Site = Site::new(NAME);
//! let mut call = LiveCall::new();
//! loop {
//!     let pause = {
//!         let attempt = async { BODY };
//!         let error = if call.failures() == 0 {
//!             let (outcome, marks) = call.first(attempt).await;
//!             match split(outcome) { .. }   // `break answer`, or the error, after which `call` takes the marks over
//!         } else {
//!             match split(call.again(attempt).await) { ... }
//!         };
//!         match call.delay(CONTEXT, GATES, || (DESCRIBED, VERDICT)) {
//!             Ok(delay) => call.pause(CONTEXT, delay, keep!(error)),
//!             Err(end) => break fail(error),
//!         }
//!     };                                    // the error is gone before the wait, or kept by `pause`
//!     if let Some((error, end)) = call.stopped(pause.await, CONTEXT) {
//!         break fail(error);
//!     }
//! }
//! ```
//!
//! With `before_retry`, `history` or gates that may turn an attempt away the error lives through
//! the wait. With a limit in time the attempt is `limited(async { BODY }, ...)`, in one place. A body
//! that is one call is `one_call(|| CALL)`, and `call` makes its future.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};
use syn::Expr;

use super::parts::Parts;
use reattempt_syntax::item::Answer;
use reattempt_syntax::model::{Model, at};
use reattempt_syntax::moves::Move;

pub(super) fn loop_of(model: &Model, answer: &Answer, body: &Group) -> TokenStream {
    looped(model, answer, |parts| match one_call(parts, body) {
        Some((call, awaited)) => (call, Some(awaited)),
        None => (attempt(parts, body), None),
    })
}

/// A loop around the future that `attempt` is, or that it makes, where it says where that is awaited.
pub(super) fn looped(
    model: &Model,
    answer: &Answer,
    attempt: impl Fn(&Parts<'_>) -> (TokenStream, Option<Span>),
) -> TokenStream {
    let parts = Parts::asynchronous(model, answer);
    let (prelude, start_of_call, bound) =
        (parts.prelude(), parts.call_start(), parts.context_bound());
    let entered = parts.entered();
    let (attempt, made) = attempt(&parts);
    // The hedge innermost: an attempt with all its copies has one outcome, and one span.
    let attempted = parts.attempted(&parts.spanned(parts.hedged(attempt)), made);
    let (progress, uses) = (parts.progress(), parts.uses());
    let (renewed, start) = (parts.renewed(), parts.attempt_start());
    let Step {
        bind,
        decided,
        wait,
    } = step(&parts);
    let (later, not_plain) = (parts.begins_again(), parts.no_longer_plain());
    let looped = ours! {
        loop {
            #entered
            #bind {
                #start
                #bound
                #attempted
                #renewed
                #decided
            };
            #wait
            #later
            #not_plain
        }
    };
    let looped = parts.used_up(parts.answered(parts.unless_too_late(&looped)));
    let borrow = parts.answer_borrow();
    ours! {
        #borrow
        #uses
        #prelude
        #start_of_call
        #progress
        #looped
    }
}

/// What follows a failure: the decision, where the attempt still is, and the wait, where it is gone.
struct Step {
    /// `let pause =`, unless the wait is part of the decision.
    bind: TokenStream,
    decided: TokenStream,
    wait: TokenStream,
}

fn step(parts: &Parts<'_>) -> Step {
    let (krate, model) = (&parts.krate, parts.model);
    let (end, give_up, again) = (parts.end(), parts.give_up(), parts.entered_again());
    let (failure, failed) = parts.failed();
    let (on_retry, context) = (parts.on_retry(), parts.context());
    let ended = ours!(::core::result::Result::Err(#end) => break #give_up,);
    let pause = parts.at_timer("pause");
    let pause = |kept| ours!((&mut call).#pause(#context, delay, #kept));
    let before_retry = parts.before_retry();
    // `before_retry` sees the error, a call that its gates turn away ends with it, and `history` keeps it. Otherwise the error is gone
    // before the wait, or kept for a deadline and the kill switch.
    if before_retry.is_some() || model.is_gated() || model.history.is_some() {
        let remembered = parts.remembered();
        let (judged, unkept) = (parts.judged(), pause(ours!(())));
        let waited = ours! {
            #unkept.await;
            if let ::core::result::Result::Err(#end) = (&mut call).resume(#context) {
                break #give_up;
            }
            #before_retry
            #again
        };
        let decide = |then: TokenStream| {
            ours! {
                #judged
                #failure
                match #failed {
                    ::core::result::Result::Ok(retry) => {
                        #on_retry
                        let delay = #krate::Retry::delay(&retry);
                        #then
                    }
                    #ended
                }
            }
        };
        // A retry that lives through a wait borrows the error, which then has to be `Sync` for the future to be `Send`.
        let decided = if parts.shows_retry() {
            let decided = decide(waited);
            ours!({ #decided } #remembered)
        } else {
            let delay = decide(ours!(delay));
            ours!(let delay = { #delay }; #waited #remembered)
        };
        return Step {
            bind: TokenStream::new(),
            decided,
            wait: TokenStream::new(),
        };
    }
    let (pause, wait) = if parts.keeps() {
        (pause(parts.kept()), parts.if_stopped())
    } else {
        (pause(ours!(())), ours!(pause.await;))
    };
    let decided = if model.on_retry.is_none() && model.strategy.is_none() {
        let ((judged, assess), gates) = (parts.assessed(), parts.gates());
        let delay = parts.at_timer("delay");
        let delay =
            parts.out_of_line(|context| ours!((&mut call).#delay(#context, #gates, assess)));
        ours! {
            #judged
            let assess = #assess;
            match #delay {
                ::core::result::Result::Ok(delay) => #pause,
                #ended
            }
        }
    } else {
        let judged = parts.judged();
        ours! {
            #judged
            #failure
            match #failed {
                ::core::result::Result::Ok(retry) => {
                    #on_retry
                    let delay = #krate::Retry::delay(&retry);
                    #pause
                }
                #ended
            }
        }
    };
    Step {
        bind: ours!(let pause =),
        decided,
        wait: ours!(#wait #again),
    }
}

/// One attempt. A return that is never taken gives it its type, so that `?`
/// and `into` in the body know where to go.
fn attempt(parts: &Parts<'_>, body: &Group) -> TokenStream {
    let statements = parts.statements(body);
    let krate = &parts.krate;
    let never = match (parts.form(), parts.answer) {
        (Some(form), _) => Some(ours!((#form).never())),
        (None, Answer::Inferred) => None,
        (None, answer) => {
            let ty = answer.spoken();
            Some(ours!(#krate::__private::never::<#ty>()))
        }
    };
    let typed = never.map(|never| {
        ours! {
            if let ::core::option::Option::Some(outcome) = #never {
                return outcome;
            }
        }
    });
    let found = parts.moves(body);
    // A copy of a short body is soon compiled, and few long ones use a value without a hint.
    let found = if is_short(body) {
        found.with_unlikely()
    } else {
        found.with_unlikely_values()
    };
    let (moved, borrowed) = (parts.moved(&found), parts.borrowed());
    let asked = parts.asked_apart(&found, &ours!(async { #typed #statements }));
    // Where the compiler says that a parameter is moved.
    let likely = found.possible.first().map(Move::span);
    let start = likely.unwrap_or_else(|| body.span_open());
    // A block that borrows, not a closure: no closure trait can give `&mut self` out again and
    // again, and the futures of `AsyncFnMut` are not `Send` in general.
    quote_spanned!(at(start)=> async { #typed #moved #asked #borrowed #statements })
}

/// What makes the future of an attempt of which the body is one call, as in `ask(&self.client, 7).await`: awaited as it
/// is, it lies once in the future of the function, and its state is kept once.
fn one_call(parts: &Parts<'_>, body: &Group) -> Option<(TokenStream, Span)> {
    let model = parts.model;
    if !parts.awaits_alone() || !model.clone.is_empty() || !model.borrowed.is_empty() {
        return None;
    }
    let (called, awaited) = awaited_call(body)?;
    let found = parts.moves(body);
    if !found.certain.is_empty() || !found.possible.is_empty() {
        return None;
    }
    // Spares a success 10 instructions. The call makes the future inside of the attempt, so what
    // the callee does before its first poll sees the deadline and the retry.
    let call = typed_call(parts, &ours!(|| #called), at(body.span_open()))?;
    let asked = parts.asked_apart(&found.with_unlikely(), &called.to_token_stream());
    let call = match asked {
        Some(asked) => ours!({ #asked #call }),
        None => call,
    };
    Some((call, awaited))
}

/// A closure that makes the future of an attempt, which returns the type of the function.
pub(super) fn typed_call(parts: &Parts<'_>, call: &TokenStream, span: Span) -> Option<TokenStream> {
    let krate = &parts.krate;
    match (parts.form(), parts.answer) {
        (Some(form), _) => {
            Some(quote_spanned!(span=> #krate::__private::one_call(&(#form).never(), #call)))
        }
        (None, Answer::Inferred) => None,
        (None, answer) => {
            let ty = answer.spoken();
            Some(quote_spanned!(span=> #krate::__private::one_call!(#ty, #call)))
        }
    }
}

/// Whether a body has hardly more than a few statements.
fn is_short(body: &Group) -> bool {
    fn tokens(stream: TokenStream) -> usize {
        let inside = stream.into_iter().map(|token| match token {
            TokenTree::Group(group) => tokens(group.stream()).saturating_add(1),
            _ => 1,
        });
        inside.sum()
    }
    tokens(body.stream()) <= 160
}

/// What the body awaits, and where, if that is a call of which nothing has to outlive its own evaluation.
fn awaited_call(body: &Group) -> Option<(Expr, Span)> {
    let tokens: Vec<_> = body.stream().into_iter().collect();
    // Most bodies are not parsed.
    if !matches!(&*tokens, [.., TokenTree::Punct(dot), TokenTree::Ident(word)] if dot.as_char() == '.' && word == "await")
    {
        return None;
    }
    let Expr::Await(awaited) = syn::parse2(body.stream()).ok()? else {
        return None;
    };
    let is_call = awaited.attrs.is_empty()
        && match &*awaited.base {
            Expr::Call(call) => {
                matches!(*call.func, Expr::Path(_)) && call.args.iter().all(can_be_lent)
            }
            Expr::MethodCall(call) => {
                can_be_lent(&call.receiver) && call.args.iter().all(can_be_lent)
            }
            _ => false,
        };
    is_call.then_some((*awaited.base, awaited.await_token.span))
}

/// Whether a call that is given it can keep it: a variable, a field of one, a literal, or a reference to one of these.
fn can_be_lent(code: &Expr) -> bool {
    match code {
        Expr::Lit(_) => true,
        // By its looks a variable: a constant might be a temporary that the call borrows.
        Expr::Path(path) => path.path.get_ident().is_some_and(|name| {
            name.to_string()
                .starts_with(|first: char| first.is_lowercase() || first == '_')
        }),
        Expr::Field(field) => can_be_lent(&field.base),
        Expr::Reference(reference) => can_be_lent(&reference.expr),
        _ => false,
    }
}
