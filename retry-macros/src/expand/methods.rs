//! An `impl` block: every method that returns `Result` gets the policy.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};
use reattempt_policy::rules::RuleId;
use reattempt_syntax::args::{self, Args};
use reattempt_syntax::diagnostics::Diagnostics;
use reattempt_syntax::item::{self, Answer, Function};
use reattempt_syntax::methods::{Block, Item, allows_twice, answer, has_own, is_meant, is_retried};
use reattempt_syntax::model::{at, located};
use reattempt_syntax::moves::SetBy;
use syn::spanned::Spanned as _;

use super::function;

pub(super) fn expand(
    arguments: &TokenStream,
    block: TokenStream,
) -> Result<TokenStream, Diagnostics> {
    let Block {
        head,
        braces,
        items,
    } = syn::parse2(block)?;
    let hidden = generics(&head);
    let set_by = SetBy::of_block(&head);
    // Faults in the keys are dropped here, because each method reports them.
    let written = args::parse(arguments.clone(), &mut Diagnostics::default());
    let krate = krate(&written);
    let mut faults = Diagnostics::default();
    let mut methods = TokenStream::new();
    if !items.iter().any(is_meant) {
        let place = head.clone().into_iter().next();
        faults.push(
            place.map_or_else(Span::call_site, |token| token.span()), RuleId::S1,
            "no method of this block returns a `Result`, so nothing would be retried; put `#[retry]` on the methods, or drop it here",
        );
    }
    for item in items {
        if let Item::Method(method, _) = &item {
            for attribute in method
                .attributes
                .iter()
                .filter(|other| item::hides_retry(other))
            {
                faults.push(
                    attribute.path().span(),
                    RuleId::S8,
                    "the policy of the `impl` block cannot see a `#[retry]` behind `cfg_attr`; put `#[cfg(...)]` on two versions of the method",
                );
            }
        }
        methods.extend(match item {
            Item::Method(mut method, tokens) if is_retried(&method) => {
                method.in_block = true;
                match function::expand(arguments.clone(), *method, Some(set_by)) {
                    Ok(expanded) => expanded,
                    Err(found) => {
                        // The method stays as it was written, so that its callers compile.
                        faults.merge(found);
                        tokens
                    }
                }
            }
            Item::Method(method, tokens) => {
                if let Some(place) = allows_twice(&written, &method) {
                    faults.push(place, RuleId::S8, "this attribute replaces all keys of the block, also its `idempotent = false`; add `idempotent = false`, or `idempotent = true` if this method may run twice");
                }
                hidden_result(&method, &hidden, &krate).unwrap_or(tokens)
            }
            Item::Other(tokens) => tokens,
        });
    }
    let mut body = Group::new(Delimiter::Brace, methods);
    body.set_span(braces.span());
    faults.finish(ours!(#head #body))
}

/// The path of this crate.
fn krate(written: &Args) -> TokenStream {
    let path = written.krate.as_ref();
    let path = path.and_then(|path| path.0.as_ref().ok());
    path.map_or_else(|| ours!(::reattempt), |path| ours!(#path))
}

/// A method whose type may be a `Result` under another name, with a constant in
/// its body that does not compile if it is: nothing is left without retries in
/// silence. `hidden` are names that a constant cannot see.
fn hidden_result(method: &Function, hidden: &[Ident], krate: &TokenStream) -> Option<TokenStream> {
    let (Answer::Unknown(ty), Some(body)) = (answer(method), &method.body) else {
        return None;
    };
    let tokens = ty.to_token_stream();
    if has_own(method) {
        return None;
    }
    let as_item = can_stand_in_constant(&tokens, hidden, &item::generics(&method.signature));
    let (span, statements) = (at(ty.span()), body.stream());
    let krate = located(krate.clone(), span);
    let (inner, statements) = item::inner_attributes(statements);
    // An inherent constant of `Result` is found before that of the trait, so the type decides.
    let check = quote_spanned! {span=> {
        use #krate::__private::IsNoResult as _;
        #krate::__private::refuse_alias(#krate::__private::IsResult::<#ty>::YES)
    }};
    // What an item cannot name is judged when code is made for the method.
    let check = if as_item {
        quote_spanned!(span=> const _: () = #check;)
    } else {
        quote_spanned!(span=> const { #check };)
    };
    let Function {
        attributes,
        visibility,
        signature,
        ..
    } = method;
    let mut body = Group::new(Delimiter::Brace, ours!(#check #statements));
    body.set_span(method.body.as_ref()?.span());
    Some(ours!(#(#attributes)* #(#inner)* #visibility #signature #body))
}

/// Whether the type names nothing that belongs to the method or the block.
fn can_stand_in_constant(tokens: &TokenStream, hidden: &[Ident], own: &[Ident]) -> bool {
    tokens.clone().into_iter().all(|token| match token {
        TokenTree::Ident(ident) => {
            ident != "Self" && !hidden.contains(&ident) && !own.contains(&ident)
        }
        // An item sees no lifetime of the block around it.
        TokenTree::Punct(punct) => punct.as_char() != '\'',
        TokenTree::Group(group) => can_stand_in_constant(&group.stream(), hidden, own),
        TokenTree::Literal(_) => true,
    })
}

/// The names between `impl<` and its `>`.
fn generics(head: &TokenStream) -> Vec<Ident> {
    let mut depth = 0_usize;
    let mut names = Vec::new();
    for token in head.clone() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '<' => depth = depth.saturating_add(1),
            TokenTree::Punct(punct) if punct.as_char() == '>' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    break;
                }
            }
            // Bounds come along: a name too many only moves a check into the function.
            TokenTree::Ident(ident) if depth > 0 => names.push(ident),
            _ => {}
        }
    }
    names
}
