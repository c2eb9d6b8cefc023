//! The branches of `tokio::select!`, which takes each of its futures.

use syn::parse::{Parse, ParseStream};
use syn::{Expr, Pat, Token, token};

/// `PATTERN = FUTURE, if CONDITION => HANDLER`.
pub(super) struct Branch {
    pub(super) pattern: Pat,
    pub(super) future: Expr,
    pub(super) condition: Option<Expr>,
    pub(super) handler: Expr,
}

/// What stands between the braces.
pub(super) struct Branches {
    pub(super) branches: Vec<Branch>,
    /// That of `else`.
    pub(super) otherwise: Option<Expr>,
}

impl Parse for Branches {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek2(Token![;]) {
            input.parse::<syn::Ident>()?;
            input.parse::<Token![;]>()?;
        }
        let (mut branches, mut otherwise) = (Vec::new(), None);
        while !input.is_empty() {
            if input.peek(Token![else]) {
                input.parse::<Token![else]>()?;
                otherwise = Some(handler(input)?);
                continue;
            }
            let pattern = Pat::parse_single(input)?;
            input.parse::<Token![=]>()?;
            let future = input.parse()?;
            let condition = if input.peek(Token![,]) {
                input.parse::<Token![,]>()?;
                input.parse::<Token![if]>()?;
                Some(input.parse()?)
            } else {
                None
            };
            branches.push(Branch {
                pattern,
                future,
                condition,
                handler: handler(input)?,
            });
        }
        Ok(Self {
            branches,
            otherwise,
        })
    }
}

/// `=> HANDLER`, with the comma behind it.
fn handler(input: ParseStream<'_>) -> syn::Result<Expr> {
    input.parse::<Token![=>]>()?;
    let handler = if input.peek(token::Brace) {
        Expr::Block(input.parse()?)
    } else {
        input.parse()?
    };
    if input.peek(Token![,]) {
        input.parse::<Token![,]>()?;
    }
    Ok(handler)
}
