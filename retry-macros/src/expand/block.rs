//! `retry_block!(keys..., body)`.
//!
//! ```text
//! retry_block!(on(_), { BODY })                    ->  { loop { ... BODY ... } }
//! retry_block!(on(_), || -> R { BODY })            ->  the same, with its type
//! retry_block!(on(_), async { BODY })              ->  async { loop { ... } }
//! retry_block!(on(_), async || -> R { BODY })      ->  the same, with its type
//! ```

use proc_macro2::{Delimiter, Group, TokenStream};
use quote::quote_spanned;
use reattempt_syntax::block::{Block, Body};
use reattempt_syntax::diagnostics::Diagnostics;
use reattempt_syntax::item::Answer;
use reattempt_syntax::model::{Model, at};
use reattempt_syntax::slips;
use syn::spanned::Spanned as _;

use super::{asynchronous, limits, sync};

/// On any fault an expression is left, so that nothing else fails: of the type
/// of the body, as far as one is known.
pub(crate) fn block(input: TokenStream) -> TokenStream {
    match Block::read(input) {
        Err(faults) => refused(faults, &anything()),
        Ok(input) => {
            let standing = standing(&input);
            block_or_faults(input).unwrap_or_else(|faults| refused(faults, &standing))
        }
    }
}

fn refused(faults: Diagnostics, standing: &TokenStream) -> TokenStream {
    let errors = faults.into_compile_errors();
    ours!({ #errors #standing })
}

/// An expression of any type. A closure, as the compiler would warn that nothing
/// after a bare `panic!()` is reached.
fn anything() -> TokenStream {
    ours!((|| ::core::panic!())())
}

fn block_or_faults(Block { items, body }: Block) -> Result<TokenStream, Diagnostics> {
    let mut faults = Diagnostics::default();
    let model = Block::check(items, &body, &mut faults);
    let model = faults.finish(model)?;
    let ended = ended(&model, &body);
    let Body {
        asynchronous,
        moved,
        answer,
        statements,
    } = body;
    let statements = ended.unwrap_or(statements);
    // The attempt speaks another type than was written; that one stays named, too.
    let named = |looped: TokenStream| match &answer {
        Answer::RetryError(_, ty) => ours!(::core::convert::identity::<#ty>({ #looped })),
        _ => looped,
    };
    if asynchronous {
        let looped = asynchronous::loop_of(&model, &answer, &statements);
        let looped = named(limits::sharing(&model, looped));
        Ok(ours!(async #moved { #looped }))
    } else {
        let looped = sync::loop_of(&model, &answer, &statements);
        let looped = named(limits::sharing(&model, looped));
        // Where it stands for another type, the compiler says so once.
        let looped = match &answer {
            Answer::Result(ty) | Answer::Option(ty) if model.map_err.is_none() => {
                ours!(::core::convert::identity::<#ty>({ #looped }))
            }
            _ => looped,
        };
        // What a `move` closure changes it changes in copies of its own.
        let inside = ours!({ #looped });
        Ok(moved.map_or(inside.clone(), |moved| ours!((#moved || #inside)())))
    }
}

/// The body where `?` leaves it, with its value in a call that is said to need a `Result`.
fn ended(model: &Model, body: &Body) -> Option<Group> {
    let (statements, end) = body.tried()?;
    let (span, krate) = (at(end.span()), model.krate_at(end.span()));
    let end = quote_spanned! {span=> {
        use #krate::__private::End as _;
        #krate::__private::EndOf(#end).reattempt_attempt()
    }};
    let mut ended = Group::new(Delimiter::Brace, quote::quote!(#(#statements)* #end));
    ended.set_span(body.statements.span());
    Some(ended)
}

/// What stands in the place of a block that was refused.
fn standing(block: &Block) -> TokenStream {
    let Body {
        asynchronous,
        moved,
        answer,
        statements,
    } = &block.body;
    // With these the body speaks of names and types that only the expansion has.
    let changes = |path: &syn::Path| path.is_ident("context") || path.is_ident("map_err");
    let bound =
        block.items.iter().any(
            |item| matches!(item, darling::ast::NestedMeta::Meta(meta) if changes(meta.path())),
        ) || block.body.leaves_loop().is_some()
            || block.body.end_without_answer(false).is_some()
            || !asynchronous && slips::awaits_in(statements.stream());
    let once = match answer.ty() {
        Some(ty) => ours!((|| -> #ty { ::core::panic!() })()),
        None if bound => anything(),
        // Without them the body stays, so that nothing in it counts as unused.
        None if *asynchronous => return ours!(async #moved #statements),
        // In a closure, because `return` and `?` in the body leave the block.
        None => ours!((|| #statements)()),
    };
    if *asynchronous {
        ours!(async #moved { #once })
    } else {
        once
    }
}
