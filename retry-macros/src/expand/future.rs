//! Functions that return a future: where the loop goes.
//!
//! ```text
//! fn f(..) -> impl Future<Output = R> { PREFIX async move { BODY } }
//!     ->  { PREFIX async move { loop { ... BODY ... } } }
//! fn f(..) -> Pin<Box<..>> { Box::pin(async move { BODY }) }     // also by `#[async_trait]`
//!     ->  { Box::pin(async move { loop { ... BODY ... } }) }
//! fn f(..) -> BoxFuture<..> { PREFIX async move { BODY }.boxed() }
//!     ->  { PREFIX async move { loop { ... BODY ... } }.boxed() }    // also with `let it = async move { BODY };`
//! fn f(..) -> impl Future<Output = R> { ANYTHING }
//!     ->  { async move { loop { ... made(|| ANYTHING).await ... } } }
//! ```

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};
use syn::Signature;

use super::asynchronous;
use crate::instrument;
use reattempt_policy::rules::RuleId;
use reattempt_syntax::async_block::AsyncBlock;
use reattempt_syntax::async_trait;
use reattempt_syntax::escape;
use reattempt_syntax::item::Answer;
use reattempt_syntax::model::{Model, at};
use reattempt_syntax::moves::{self, SetBy};
use reattempt_syntax::unborrowed::Unborrowed;

pub(super) fn expand(
    model: &Model,
    signature: &Signature,
    answer: &Answer,
    body: &Group,
    boxed: bool,
) -> TokenStream {
    let tokens: Vec<_> = body.stream().into_iter().collect();
    if let Some(found) = AsyncBlock::retried(&tokens, boxed) {
        let model = model.in_block(moves::in_front(signature, &found.statements()));
        return found.replaced(|block| block_of(&model, answer, block));
    }
    if is_wrapped_body(&tokens) {
        // Inside another macro's `async move {}`: the body of the future itself.
        return block_of(model, answer, body);
    }
    // In traits, and in their impls, an `impl Future` borrows what its function does in each edition.
    let found = Unborrowed::of(signature, &body.stream(), boxed)
        .filter(|it| !it.by_edition || model.set_by == SetBy::Function);
    let borrowed = found.map(|it| borrow_check(model, &it));
    // What the body gives is another type than the one written with `RetryError` or `map_err`.
    let spoken = !matches!(answer, Answer::RetryError(..)) && model.map_err.is_none();
    // Each future borrows as long as its own attempt.
    let output = signature.output.to_token_stream();
    let output = (boxed && spoken).then(|| escape::with_any_lifetime(output));
    let looped = asynchronous::looped(model, answer, |parts| {
        let (krate, statements) = (&parts.krate, parts.statements(body));
        // What makes the future runs for each attempt, so what it moves has to be there again.
        let found = parts.moves(body).with_unlikely();
        let moved = parts.moved(&found);
        let asked = parts.asked_apart(
            &found,
            &ours!(#krate::__private::type_of(|| #output { #statements })),
        );
        let span = at(body.span_open());
        let closure = quote_spanned!(span=> || #output { #moved #asked #statements });
        // No type of the closure says what an `impl Future` returns.
        let typed = (!boxed).then(|| asynchronous::typed_call(parts, &closure, span));
        let closure = typed.flatten().unwrap_or(closure);
        let (until, context) = (parts.until(), parts.attempt_context());
        let attempt =
            ours!(#krate::__private::LiveCall::attempt(&mut call, #until, #context, #closure));
        (attempt, None)
    });
    if boxed {
        let krate = model.krate();
        ours!(#borrowed #krate::__private::Box::pin(async move { #looped }))
    } else {
        // Two statements, so that the signature is not said to want `async fn`.
        ours!(#borrowed let retried = async move { #looped }; retried)
    }
}

/// Never runs: the future may borrow what its attempts need.
fn borrow_check(model: &Model, unborrowed: &Unborrowed) -> TokenStream {
    let krate = model.krate();
    let (message, note) = (unborrowed.message(model.set_by), RuleId::S6.footer());
    // The prelude has `IntoFuture` since the edition in which an `impl Future` borrows what its function does. In an earlier
    // one the method is found by one more reference.
    let of_edition = unborrowed.by_edition.then(|| {
        ours! {
            impl ::core::future::IntoFuture for Made {
                type Output = #krate::__private::Kept;
                type IntoFuture = ::core::future::Ready<#krate::__private::Kept>;
                fn into_future(self) -> Self::IntoFuture {
                    ::core::future::ready(#krate::__private::Kept)
                }
            }
        }
    });
    let made = quote_spanned!(at(unborrowed.span())=> Made.into_future());
    let check = quote_spanned!(at(unborrowed.span())=> BorrowsForAttempts::check(&made););
    ours! {
        if let ::core::option::Option::Some(()) = #krate::__private::never::<()>() {
            #[diagnostic::on_unimplemented(message = #message, label = "needed here", note = #note)]
            trait BorrowsForAttempts {
                fn check(&self) {}
            }
            #[diagnostic::do_not_recommend]
            impl BorrowsForAttempts for ::core::future::Ready<#krate::__private::Kept> {}
            trait BeforeEdition2024 {
                fn into_future(&self) -> #krate::__private::Lacked {
                    #krate::__private::Lacked
                }
            }
            struct Made;
            impl BeforeEdition2024 for Made {}
            #of_edition
            let made = #made;
            #check
        }
    }
}

/// What `#[async_trait]` writes stands in this block itself.
fn is_wrapped_body(tokens: &[TokenTree]) -> bool {
    async_trait::parted(tokens).is_some()
}

/// The contents of the async block: what `#[async_trait]` puts in front of the
/// user's body moves the parameters into the block, which can be done once.
fn block_of(model: &Model, answer: &Answer, block: &Group) -> TokenStream {
    let mut retried = |body: &Group| contents_of(model, answer, body);
    instrument::inside(block.stream(), &mut retried).unwrap_or_else(|| retried(block))
}

fn contents_of(model: &Model, answer: &Answer, block: &Group) -> TokenStream {
    let tokens: Vec<_> = block.stream().into_iter().collect();
    let Some((before, body)) = async_trait::parted(&tokens) else {
        return asynchronous::loop_of(model, answer, block);
    };
    // The hooks meet `self` under the name it has been moved to.
    let renamed = before.iter().find_map(|token| match token {
        TokenTree::Ident(name) if name == "__self" => Some(model.with_self(name)),
        _ => None,
    });
    let mut model = renamed.unwrap_or_else(|| model.clone());
    // `#[async_trait]` has moved all of them into the block.
    model.is_block = false;
    let before = async_trait::without_mut(before, &model.clone);
    let before = async_trait::with_mut(before, &model.borrowed);
    let looped = asynchronous::loop_of(&model, answer, body);
    ours!(#before #looped)
}
