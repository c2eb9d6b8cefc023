//! An `impl` block: every method that returns `Result` gets the policy.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};
use syn::ImplItem;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned as _;

use super::function;
use crate::args;
use crate::faults::Faults;
use crate::item::{self, Answer, Function};
use crate::model::{at, located};

/// An `impl` block: what stands before its braces, and its items.
struct Block {
    head: TokenStream,
    braces: Group,
    items: Vec<Item>,
}

enum Item {
    /// A method, and its tokens as written.
    Method(Box<Function>, TokenStream),
    Other(TokenStream),
}

impl Parse for Block {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let tokens: TokenStream = input.parse()?;
        let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
        match tokens.pop() {
            Some(TokenTree::Group(braces)) if braces.delimiter() == Delimiter::Brace => Ok(Self {
                items: syn::parse::Parser::parse2(items, braces.stream())?,
                head: tokens.into_iter().collect(),
                braces,
            }),
            _ => Err(input.error("expected an `impl` block")),
        }
    }
}

fn items(input: ParseStream<'_>) -> syn::Result<Vec<Item>> {
    let mut items = Vec::new();
    while !input.is_empty() {
        let start = input.fork();
        items.push(match input.fork().parse::<Function>() {
            Ok(_) => {
                let method = input.parse()?;
                Item::Method(Box::new(method), until(&start, input))
            }
            Err(_) => Item::Other(input.parse::<ImplItem>()?.into_token_stream()),
        });
    }
    Ok(items)
}

/// The tokens from `start` up to where `end` stands.
fn until(start: ParseStream<'_>, end: ParseStream<'_>) -> TokenStream {
    let mut tokens = TokenStream::new();
    while start.cursor() < end.cursor() {
        match start.parse::<TokenTree>() {
            Ok(token) => tokens.extend([token]),
            Err(_) => break,
        }
    }
    tokens
}

pub(super) fn expand(arguments: &TokenStream, block: TokenStream) -> Result<TokenStream, Faults> {
    let Block {
        head,
        braces,
        items,
    } = syn::parse2(block)?;
    let hidden = generics(&head);
    let krate = krate(arguments);
    let mut faults = Faults::default();
    let mut methods = TokenStream::new();
    if !items.iter().any(is_meant) {
        let place = head.clone().into_iter().next();
        faults.push(
            place.map_or_else(Span::call_site, |token| token.span()),
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
                    "the policy of the `impl` block cannot see a `#[retry]` behind `cfg_attr`; put `#[cfg(...)]` on two versions of the method",
                );
            }
        }
        methods.extend(match item {
            Item::Method(method, tokens) if is_retried(&method) => {
                match function::expand(arguments.clone(), *method) {
                    Ok(expanded) => expanded,
                    Err(found) => {
                        faults.merge(found);
                        tokens
                    }
                }
            }
            Item::Method(method, tokens) => {
                hidden_result(&method, &hidden, &krate).unwrap_or(tokens)
            }
            Item::Other(tokens) => tokens,
        });
    }
    let mut body = Group::new(Delimiter::Brace, methods);
    body.set_span(braces.span());
    faults.finish(ours!(#head #body))
}

/// Whether the policy of the block has something to do with this item.
fn is_meant(item: &Item) -> bool {
    matches!(item, Item::Method(method, _) if is_retried(method) || has_own(method))
}

/// The path of this crate; faults in the arguments are told by the methods.
fn krate(arguments: &TokenStream) -> TokenStream {
    let arguments = args::parse(arguments.clone(), &mut Faults::default());
    let path = arguments.krate.and_then(|path| path.0.ok());
    path.map_or_else(|| ours!(::reattempt), |path| ours!(#path))
}

/// A method that returns `Result` and has no attribute of its own.
fn is_retried(method: &Function) -> bool {
    !has_own(method) && matches!(answer(method), Answer::Result(_) | Answer::Failed(..))
}

fn has_own(method: &Function) -> bool {
    method.attributes.iter().any(item::is_retry)
}

fn answer(method: &Function) -> Answer {
    let (_, answer) = item::flow(&method.signature);
    answer.as_ref().map_or(Answer::Inferred, Answer::of)
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
            TokenTree::Ident(ident) if depth > 0 => names.push(ident),
            _ if depth == 0 && !names.is_empty() => break,
            _ => {}
        }
    }
    names
}
