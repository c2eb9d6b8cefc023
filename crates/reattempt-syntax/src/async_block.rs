//! The async block that is the future of a function, and alone runs again.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use syn::parse::Parser as _;
use syn::{Block, Stmt};

/// The block, and how to put another in its place.
pub struct AsyncBlock<'a> {
    /// What stands in front of it.
    pub before: &'a [TokenTree],
    /// Its braces.
    pub block: Group,
    /// `pin(...)`: the parentheses around the block, and what stands in them before it.
    wrapped: Option<(Vec<TokenTree>, Group)>,
    /// What makes the answer of the future: `.boxed()`, or a statement after `let future = async {..}`.
    after: Vec<TokenTree>,
}

impl<'a> AsyncBlock<'a> {
    /// Returns the block with which a body ends: bare, in `Box::pin(...)` or before `.boxed()`, with or without a name.
    pub fn of(tokens: &'a [TokenTree]) -> Option<Self> {
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
                Some(Self {
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
                        Some(Self {
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

    /// Returns the one that alone is retried: a `return` in front of it may give another boxed future, and then the whole
    /// body makes the future of each attempt. `impl Future` is one type, which leaves no other.
    pub fn retried(tokens: &'a [TokenTree], is_boxed: bool) -> Option<Self> {
        Self::of(tokens).filter(|it| !(is_boxed && may_return(it.before)))
    }

    /// Returns the statements in front of it, which run once.
    pub fn statements(&self) -> Vec<Stmt> {
        let is_end = |token: &TokenTree| match token {
            TokenTree::Punct(end) => end.as_char() == ';',
            TokenTree::Group(block) => block.delimiter() == Delimiter::Brace,
            _ => false,
        };
        let end = self.before.iter().rposition(is_end);
        let statements = end.and_then(|end| self.before.get(..=end));
        let statements = statements.unwrap_or_default().iter().cloned().collect();
        Block::parse_within.parse2(statements).unwrap_or_default()
    }

    /// Whether it takes what it names.
    pub fn is_move(&self) -> bool {
        let before = self
            .wrapped
            .as_ref()
            .map_or(self.before, |(inside, _)| inside);
        matches!(before.last(), Some(TokenTree::Ident(word)) if word == "move")
    }

    /// Puts another block in its place.
    pub fn replaced(self, replace: impl FnOnce(&Group) -> TokenStream) -> TokenStream {
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

/// The block of the last statement, if that is `let name = async {..};`. One that instruments the future may follow.
fn named<'a>(tokens: &'a [TokenTree], name: &Ident) -> Option<AsyncBlock<'a>> {
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
        (is_named && block.delimiter() == Delimiter::Brace).then(|| AsyncBlock {
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
        "event",
    ];
    NAMES.contains(&name) || name.ends_with("span")
}
