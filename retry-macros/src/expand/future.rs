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

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::parse::Parser as _;
use syn::{Block, Signature};

use super::asynchronous;
use crate::instrument;
use reattempt_syntax::async_trait;
use reattempt_syntax::item::Answer;
use reattempt_syntax::model::{Model, at};
use reattempt_syntax::moves::{self, Owned};

pub(super) fn expand(
    model: &Model,
    signature: &Signature,
    answer: &Answer,
    body: &Group,
    boxed: bool,
) -> TokenStream {
    let tokens: Vec<_> = body.stream().into_iter().collect();
    if let Some(found) = innermost(&tokens) {
        // A `return` in front of it may give another boxed future: then the whole body makes the
        // future of each attempt. `impl Future` is one type, which leaves no other.
        if !(boxed && may_return(found.before)) {
            let model = model.in_block(variables(signature, found.before));
            return found.replaced(|block| block_of(&model, answer, block));
        }
    } else if is_wrapped_body(&tokens) {
        // Inside another macro's `async move {}`: the body of the future itself.
        return block_of(model, answer, body);
    }
    // What the body gives is another type than the one written with `RetryError` or `map_err`.
    let spoken = !matches!(answer, Answer::RetryError(..)) && model.map_err.is_none();
    let output = (boxed && spoken).then_some(&signature.output);
    let looped = asynchronous::looped(model, answer, |parts| {
        let (krate, statements) = (&parts.krate, parts.statements(body));
        // What makes the future runs for each attempt, so what it moves has to be there again.
        let found = parts.moves(body).with_unlikely();
        let moved = parts.moved(&found);
        let asked = parts.asked_apart(&found, &ours!((|| #output { #statements })()));
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
        ours!(#krate::__private::Box::pin(async move { #looped }))
    } else {
        // Two statements, so that the signature is not said to want `async fn`.
        ours!(let retried = async move { #looped }; retried)
    }
}

/// The variables of the statements in front of the block, which run once.
fn variables(signature: &Signature, before: &[TokenTree]) -> Vec<Owned> {
    let is_end = |token: &TokenTree| match token {
        TokenTree::Punct(end) => end.as_char() == ';',
        TokenTree::Group(block) => block.delimiter() == Delimiter::Brace,
        _ => false,
    };
    let statements = before.iter().rposition(is_end);
    let statements = statements.and_then(|end| before.get(..=end));
    let statements = statements.unwrap_or_default().iter().cloned().collect();
    let statements = Block::parse_within.parse2(statements);
    statements.map_or_else(|_| Vec::new(), |it| moves::in_front(signature, &it))
}

/// Whether the body ends with the async block that is the future.
pub(super) fn ends_in_block(body: &Group) -> bool {
    innermost(&body.stream().into_iter().collect::<Vec<_>>()).is_some()
}

/// Whether statements in front of the async block may return another future; a
/// macro may hide a `return`.
fn may_return(before: &[TokenTree]) -> bool {
    let mut tokens = before.iter().peekable();
    while let Some(token) = tokens.next() {
        let found = match token {
            TokenTree::Ident(word) => {
                let is_macro =
                    matches!(tokens.peek(), Some(TokenTree::Punct(bang)) if bang.as_char() == '!');
                word == "return" || (is_macro && !is_known_macro(&word.to_string()))
            }
            TokenTree::Group(group) => may_return(&group.stream().into_iter().collect::<Vec<_>>()),
            _ => false,
        };
        if found {
            return true;
        }
    }
    false
}

/// Macros of the standard library and of logging, which do not return.
fn is_known_macro(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "format",
        "vec",
        "println",
        "eprintln",
        "print",
        "eprint",
        "dbg",
        "assert",
        "assert_eq",
        "assert_ne",
        "debug_assert",
        "write",
        "writeln",
        "matches",
        "trace",
        "debug",
        "info",
        "warn",
        "error",
        "concat",
        "stringify",
        "env",
        "include_str",
        "json",
        "span",
        "event",
    ];
    NAMES.contains(&name)
}

/// What `#[async_trait]` writes stands in this block itself.
fn is_wrapped_body(tokens: &[TokenTree]) -> bool {
    async_trait::parted(tokens).is_some()
}

/// The block that is retried, and how to put another in its place.
struct Found<'a> {
    before: &'a [TokenTree],
    block: Group,
    /// `pin(...)`: the parentheses around the block, and what stands in them before it.
    wrapped: Option<(Vec<TokenTree>, Group)>,
    /// What makes the answer of the future: `.boxed()`, or a statement after `let future = async {..}`.
    after: Vec<TokenTree>,
}

impl Found<'_> {
    fn replaced(self, replace: impl FnOnce(&Group) -> TokenStream) -> TokenStream {
        let before: TokenStream = self.before.iter().cloned().collect();
        let after: TokenStream = self.after.into_iter().collect();
        let mut block = Group::new(Delimiter::Brace, replace(&self.block));
        block.set_span(self.block.span());
        match self.wrapped {
            None => ours!(#before #block #after),
            Some((inside, parentheses)) => {
                let inside: TokenStream = inside.into_iter().collect();
                let mut group = Group::new(Delimiter::Parenthesis, ours!(#inside #block));
                group.set_span(parentheses.span());
                ours!(#before #group #after)
            }
        }
    }
}

/// The async block with which the body ends: bare, in `Box::pin(...)` or before `.boxed()`, with or without a name.
fn innermost(tokens: &[TokenTree]) -> Option<Found<'_>> {
    let (whole, after) = match tokens {
        [
            whole @ ..,
            TokenTree::Punct(dot),
            TokenTree::Ident(name),
            TokenTree::Group(_),
        ] if dot.as_char() == '.' && (name == "boxed" || name == "boxed_local") => {
            tokens.split_at_checked(whole.len())?
        }
        _ => (tokens, [].as_slice()),
    };
    let (last, before) = whole.split_last()?;
    match last {
        TokenTree::Group(group)
            if group.delimiter() == Delimiter::Brace && ends_in_async(before) =>
        {
            Some(Found {
                before,
                block: group.clone(),
                wrapped: None,
                after: after.to_vec(),
            })
        }
        TokenTree::Group(group)
            if group.delimiter() == Delimiter::Parenthesis
                && matches!(before.last(), Some(TokenTree::Ident(name)) if name == "pin") =>
        {
            let inside: Vec<_> = group.stream().into_iter().collect();
            match &*inside {
                [TokenTree::Ident(name)] => named(tokens, name),
                // Only `async` and `move` before the block.
                [head @ .., TokenTree::Group(block)]
                    if block.delimiter() == Delimiter::Brace
                        && ends_in_async(head)
                        && head.len() <= 2 =>
                {
                    Some(Found {
                        before,
                        block: block.clone(),
                        wrapped: Some((head.to_vec(), group.clone())),
                        after: after.to_vec(),
                    })
                }
                _ => None,
            }
        }
        TokenTree::Ident(name) => named(tokens, name),
        _ => None,
    }
}

/// The block of the last statement, if that is `let name = async {..};`. One that instruments the future may follow.
fn named<'a>(tokens: &'a [TokenTree], name: &Ident) -> Option<Found<'a>> {
    let is_end = |it: &TokenTree| matches!(it, TokenTree::Punct(end) if end.as_char() == ';');
    let last = tokens.iter().rposition(is_end)?;
    let instruments = |from: usize| {
        let between = tokens.get(from..last).unwrap_or_default();
        between.iter().any(
            |it| matches!(it, TokenTree::Ident(word) if word.to_string().starts_with("instrument")),
        )
    };
    let before = tokens.get(..last)?.iter().rposition(is_end);
    let before = before.filter(|end| instruments(*end));
    [Some(last), before].into_iter().flatten().find_map(|end| {
        let (statements, after) = tokens.split_at_checked(end)?;
        let (TokenTree::Group(block), before) = statements.split_last()? else {
            return None;
        };
        let is_named = matches!(
            without_async(before)?,
            [.., TokenTree::Ident(bind), TokenTree::Ident(bound), TokenTree::Punct(_)]
                if bind == "let" && bound == name
        );
        (is_named && block.delimiter() == Delimiter::Brace).then(|| Found {
            before,
            block: block.clone(),
            wrapped: None,
            after: after.to_vec(),
        })
    })
}

/// What stands in front of `async` or `async move`, if the tokens end with that.
fn without_async(tokens: &[TokenTree]) -> Option<&[TokenTree]> {
    let rest = match tokens {
        [rest @ .., TokenTree::Ident(word)] if word == "move" => rest,
        _ => tokens,
    };
    match rest {
        [before @ .., TokenTree::Ident(word)] if word == "async" => Some(before),
        _ => None,
    }
}

/// Whether a block after these tokens is an async block and the value of the body.
fn ends_in_async(tokens: &[TokenTree]) -> bool {
    without_async(tokens).is_some_and(|before| match before.last() {
        None => true,
        Some(TokenTree::Punct(end)) => end.as_char() == ';',
        Some(TokenTree::Group(block)) => block.delimiter() == Delimiter::Brace,
        _ => false,
    })
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
    let model = renamed.as_ref().unwrap_or(model);
    let before = async_trait::without_mut(before, &model.clone);
    let before = async_trait::with_mut(before, &model.borrowed);
    let looped = asynchronous::loop_of(model, answer, body);
    ours!(#before #looped)
}
