//! An `impl` block: every method that returns `Result` gets the policy.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::ImplItem;
use syn::parse::{Parse, ParseStream};

use super::function;
use crate::faults::Faults;
use crate::item::{self, Answer, Function};

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
    let mut faults = Faults::default();
    let mut methods = TokenStream::new();
    for item in items {
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
            Item::Method(_, tokens) | Item::Other(tokens) => tokens,
        });
    }
    let mut body = Group::new(Delimiter::Brace, methods);
    body.set_span(braces.span());
    faults.finish(ours!(#head #body))
}

/// A method that returns `Result` and has no attribute of its own.
fn is_retried(method: &Function) -> bool {
    let own = method.attributes.iter().any(item::is_retry);
    let (_, answer) = item::flow(&method.signature);
    let answer = answer.as_ref().map_or(Answer::Inferred, Answer::of);
    !own && matches!(answer, Answer::Result(_) | Answer::Failed(..))
}
