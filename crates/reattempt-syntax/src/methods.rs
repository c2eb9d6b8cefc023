//! An `impl` block with a policy: which of its methods get it.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned as _;
use syn::{ImplItem, Meta};

use crate::args::{self, Args, Given, Value};
use crate::diagnostics::Diagnostics;
use crate::item::{self, Answer, Function};

/// An `impl` block: what stands before its braces, and its items.
pub struct Block {
    /// What stands in front of the braces.
    pub head: TokenStream,
    /// The braces.
    pub braces: Group,
    /// What is in them.
    pub items: Vec<Item>,
}

/// What is in an `impl` block.
pub enum Item {
    /// A method, and its tokens as written.
    Method(Box<Function>, TokenStream),
    /// What has no policy.
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

/// Whether the policy of the block has something to do with this item.
pub fn is_meant(item: &Item) -> bool {
    matches!(item, Item::Method(method, _) if is_retried(method) || has_own(method))
}

/// A method that returns `Result` and has no attribute of its own.
pub fn is_retried(method: &Function) -> bool {
    !has_own(method) && matches!(answer(method), Answer::Result(_) | Answer::RetryError(..))
}

/// Whether it has an attribute of its own.
pub fn has_own(method: &Function) -> bool {
    method.attributes.iter().any(item::is_retry)
}

/// `#[retry(never)]`: as if nothing stood there, also in an `impl` block with a policy.
pub fn is_never(arguments: &TokenStream) -> bool {
    let mut tokens = arguments.clone().into_iter();
    let first = tokens.next();
    matches!(first, Some(TokenTree::Ident(word)) if word == "never") && tokens.next().is_none()
}

/// Where a method's own policy, which replaces that of the block with all its keys, leaves out that the block has an
/// operation which must not run twice.
pub fn allows_twice(block: &Args, method: &Function) -> Option<Span> {
    let forbids = |value: &Value<bool>| !matches!(value.given, Given::Literal(true, _));
    if !block.idempotent.as_ref().is_some_and(forbids) {
        return None;
    }
    let own = method.attributes.iter().find(|own| item::is_retry(own))?;
    let written = match &own.meta {
        Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    };
    if is_never(&written) {
        return None;
    }
    let written = args::parse(written, &mut Diagnostics::default());
    let says = written.idempotent.is_some() || written.policy.is_some();
    (!says).then(|| own.path().span())
}

/// What it answers.
pub fn answer(method: &Function) -> Answer {
    let (_, answer) = item::flow(&method.signature);
    answer.as_ref().map_or(Answer::Inferred, Answer::of)
}
