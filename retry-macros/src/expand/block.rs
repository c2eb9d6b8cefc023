//! `retry_block!(keys..., body)`.
//!
//! ```text
//! retry_block!(on(_), { BODY })                    ->  { loop { ... BODY ... } }
//! retry_block!(on(_), || -> R { BODY })            ->  the same, with its type told
//! retry_block!(on(_), async { BODY })              ->  async { loop { ... } }
//! retry_block!(on(_), async || -> R { BODY })      ->  the same, with its type told
//! ```

use darling::ast::NestedMeta;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::spanned::Spanned as _;
use syn::{Expr, ExprClosure, Ident, ReturnType, Token};

use super::{asynchronous, sync};
use crate::faults::Faults;
use crate::item::{self, Answer};
use crate::{args, check, keys};

/// On any fault an expression is left, so that nothing else fails: of the type
/// of the body, as far as one is known.
pub(crate) fn block(input: TokenStream) -> TokenStream {
    let left_out = args::without_value(input.clone());
    let mut faults = Faults::default();
    if !left_out.is_empty() {
        for fault in left_out {
            faults.add(fault);
        }
        return refused(faults, &anything());
    }
    match Input::parse.parse2(input) {
        Err(fault) => refused(fault.into(), &anything()),
        Ok(input) => {
            let standing = input.standing();
            block_or_faults(input).unwrap_or_else(|faults| refused(faults, &standing))
        }
    }
}

fn refused(faults: Faults, standing: &TokenStream) -> TokenStream {
    let errors = faults.into_compile_errors();
    ours!({ #errors #standing })
}

/// An expression of any type. A closure, as the compiler would warn that nothing
/// after a bare `panic!()` is reached.
fn anything() -> TokenStream {
    ours!((|| ::core::panic!())())
}

fn block_or_faults(Input { items, body }: Input) -> Result<TokenStream, Faults> {
    let mut faults = Faults::default();
    let known: Vec<&str> = keys::KEYS
        .iter()
        .copied()
        .filter(|key| !keys::is_one_of(key, keys::FUNCTION_ONLY))
        .collect();
    let arguments = args::from_items(items, &known, &mut faults);
    let model = check::block(
        arguments,
        body.asynchronous,
        body.answer
            .error_span()
            .or_else(|| Some(body.statements.span_open())),
        &mut faults,
    );
    let model = faults.finish(model)?;
    let Body {
        asynchronous,
        moved,
        answer,
        statements,
    } = body;
    // The attempt speaks another type than was written; that one stays named, too.
    let named = |looped: TokenStream| match &answer {
        Answer::Failed(_, ty) => ours!(::core::convert::identity::<#ty>({ #looped })),
        _ => looped,
    };
    if asynchronous {
        let looped = named(asynchronous::loop_of(&model, &answer, &statements));
        Ok(ours!(async #moved { #looped }))
    } else {
        let looped = named(sync::loop_of(&model, &answer, &statements));
        // What a `move` closure changes it changes in copies of its own.
        let inside = ours!({ #looped });
        Ok(moved.map_or(inside.clone(), |moved| ours!((#moved || #inside)())))
    }
}

struct Input {
    items: Vec<NestedMeta>,
    body: Body,
}

struct Body {
    asynchronous: bool,
    moved: Option<Token![move]>,
    answer: Answer,
    statements: Group,
}

impl Input {
    /// What stands in the place of a block that was refused.
    fn standing(&self) -> TokenStream {
        let Body {
            asynchronous,
            moved,
            answer,
            statements,
        } = &self.body;
        let bound = self
            .items
            .iter()
            .any(|item| matches!(item, NestedMeta::Meta(meta) if meta.path().is_ident("context")));
        let once = match answer.ty() {
            Some(ty) => ours!((|| -> #ty { ::core::panic!() })()),
            None if bound => anything(),
            None if *asynchronous => return ours!(async #moved #statements),
            None => ours!((|| #statements)()),
        };
        if *asynchronous {
            ours!(async #moved { #once })
        } else {
            once
        }
    }
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut items = Vec::new();
        let mut last = None;
        while !input.is_empty() && !starts_body(input) {
            last = Some(input.span());
            items.push(input.parse()?);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        if input.is_empty() {
            // Without a token the macro as a whole is the place.
            return Err(syn::Error::new(
                last.unwrap_or_else(|| input.span()),
                "`retry_block!` ends with a block or a closure that is retried; write `retry_block!(on(_), { ... })`",
            ));
        }
        let body = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        if !input.is_empty() {
            let rest: TokenStream = input.parse()?;
            return Err(syn::Error::new(
                rest.span(),
                "the body comes last; put the keys in front of it",
            ));
        }
        Ok(Self { items, body })
    }
}

/// Whether a block or a closure comes next, not `key = value` or `key(...)`.
fn starts_body(input: ParseStream<'_>) -> bool {
    input.peek(syn::token::Brace)
        || input.peek(Token![|])
        || input.peek(Token![||])
        || input.peek(Token![move])
        || input.peek(Token![async])
        || !input.peek(Ident::peek_any)
}

impl Parse for Body {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        // A macro's `$body:block` comes in an invisible group.
        let ahead = input.fork();
        if let Some(statements) = ahead
            .parse::<TokenTree>()
            .ok()
            .as_ref()
            .and_then(item::braces)
        {
            input.parse::<TokenTree>()?;
            return Ok(Self {
                asynchronous: false,
                moved: None,
                answer: Answer::Inferred,
                statements,
            });
        }
        let ahead = input.fork();
        let asynchronous = ahead.parse::<Option<Token![async]>>()?;
        let moved = ahead.parse::<Option<Token![move]>>()?;
        if ahead.peek(syn::token::Brace) && (moved.is_none() || asynchronous.is_some()) {
            input.parse::<Option<Token![async]>>()?;
            input.parse::<Option<Token![move]>>()?;
            return Ok(Self {
                asynchronous: asynchronous.is_some(),
                moved,
                answer: Answer::Inferred,
                statements: input.parse()?,
            });
        }
        if ahead.peek(Token![|]) || ahead.peek(Token![||]) {
            return Self::closure(&input.parse()?);
        }
        Err(input.error("expected a block, an `async` block, a closure or an async closure"))
    }
}

impl Body {
    fn closure(closure: &ExprClosure) -> syn::Result<Self> {
        if let Some(parameter) = closure.inputs.first() {
            return Err(syn::Error::new(
                parameter.span(),
                "the closure takes no parameter; `context = attempt` gives the body its attempt",
            ));
        }
        let answer = match &closure.output {
            ReturnType::Default => Answer::Inferred,
            ReturnType::Type(_, ty) => Answer::of(ty),
        };
        let inner_async = match &*closure.body {
            Expr::Async(block) if closure.asyncness.is_none() => Some(block),
            _ => None,
        };
        Ok(match inner_async {
            // `|| async { ... }`
            Some(block) => Self {
                asynchronous: true,
                moved: block.capture,
                answer: Answer::Inferred,
                statements: braces(block.block.to_token_stream()),
            },
            None => Self {
                asynchronous: closure.asyncness.is_some(),
                moved: closure.capture,
                answer,
                statements: braces(closure.body.to_token_stream()),
            },
        })
    }
}

/// A block as it is; anything else in braces.
fn braces(tokens: TokenStream) -> Group {
    let mut list = tokens.clone().into_iter();
    match (list.next(), list.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Brace => group,
        _ => {
            let span = tokens.span();
            let mut group = Group::new(Delimiter::Brace, tokens);
            group.set_span(span);
            group
        }
    }
}
