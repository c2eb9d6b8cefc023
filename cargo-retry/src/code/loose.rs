//! What stands in a macro that is not known: items, statements or expressions, as far as it looks like them.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Block, Expr, Item, Stmt, Token};

/// Items, if it looks like items: in `cfg_if! { if #[cfg(unix)] { fn f() {} } }`, those in the innermost braces.
pub(crate) fn items(tokens: TokenStream) -> Vec<Item> {
    if let Ok(items) = all_items.parse2(tokens.clone()) {
        return items;
    }
    let braces = tokens.into_iter().filter_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    });
    braces.flat_map(items).collect()
}

fn all_items(input: ParseStream<'_>) -> syn::Result<Vec<Item>> {
    let mut items = Vec::new();
    while !input.is_empty() {
        items.push(match input.parse()? {
            // What `syn` does not understand is no item to us either.
            Item::Verbatim(_) => return Err(input.error("no item")),
            item => item,
        });
    }
    Ok(items)
}

/// Statements and expressions; what cannot be read as either is left out.
pub(crate) fn statements(tokens: &TokenStream) -> Vec<Stmt> {
    if let Ok(statements) = Block::parse_within.parse2(tokens.clone()) {
        return statements;
    }
    let list = Punctuated::<Expr, Token![,]>::parse_terminated;
    if let Ok(list) = list.parse2(tokens.clone()) {
        return list
            .into_iter()
            .map(|expr| Stmt::Expr(expr, None))
            .collect();
    }
    let mut pieces = pieces(tokens);
    if let [_] = pieces.as_slice() {
        pieces = groups(tokens);
    }
    pieces.iter().flat_map(piece).collect()
}

/// One of several: what stands behind a pattern, or in its groups.
fn piece(tokens: &TokenStream) -> Vec<Stmt> {
    let Some(place) = equals(tokens) else {
        return statements(tokens);
    };
    let behind = tokens.clone().into_iter().skip(place.saturating_add(1));
    statements(&behind.collect())
}

/// Where the first `=` of `pattern = expression` stands.
fn equals(tokens: &TokenStream) -> Option<usize> {
    Block::parse_within
        .parse2(tokens.clone())
        .is_err()
        .then_some(())?;
    let mut tokens = tokens.clone().into_iter();
    tokens.position(|token| matches!(token, TokenTree::Punct(sign) if sign.as_char() == '=' && sign.spacing() == Spacing::Alone))
}

/// Between `,`, `;` and `=>`.
fn pieces(tokens: &TokenStream) -> Vec<TokenStream> {
    let mut pieces: Vec<Vec<TokenTree>> = vec![Vec::new()];
    for token in tokens.clone() {
        let sign = match &token {
            TokenTree::Punct(sign) => sign.as_char(),
            _ => ' ',
        };
        let Some(piece) = pieces.last_mut() else {
            break;
        };
        let was_equals = matches!(piece.last(), Some(TokenTree::Punct(sign)) if sign.as_char() == '=' && sign.spacing() == Spacing::Joint);
        if sign == '>' && was_equals {
            piece.pop();
            pieces.push(Vec::new());
        } else if matches!(sign, ',' | ';') {
            pieces.push(Vec::new());
        } else {
            piece.push(token);
        }
    }
    pieces.into_iter().map(TokenStream::from_iter).collect()
}

fn groups(tokens: &TokenStream) -> Vec<TokenStream> {
    let groups = tokens.clone().into_iter().filter_map(|token| match token {
        TokenTree::Group(group) => Some(group.stream()),
        _ => None,
    });
    groups.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let tokens: TokenStream = text.parse().expect("these are tokens");
        let statements = statements(&tokens);
        statements
            .iter()
            .map(|it| quote::quote!(#it).to_string())
            .collect()
    }

    #[test]
    fn what_macros_are_given() {
        assert_eq!(read("a(1); b(2)"), ["a (1) ;", "b (2)"]);
        assert_eq!(
            read("\"{} {x}\", f(1), x = g(2)"),
            ["\"{} {x}\"", "f (1)", "x = g (2)"]
        );
        // `tokio::select!`
        let select = read("biased; _ = f() => { g() } Some(x) = h(), if y => k(x), else => z()");
        let select = select.join(" ");
        for call in ["f ()", "g ()", "h ()", "k (x)", "z ()"] {
            assert!(select.contains(call), "{call} in {select}");
        }
    }

    #[test]
    fn items_in_braces() {
        let text = "if #[cfg(unix)] { fn a() {} mod b; } else { fn c() {} }";
        let items = items(text.parse().expect("these are tokens"));
        assert_eq!(items.len(), 3);
        assert!(
            items
                .iter()
                .all(|item| matches!(item, Item::Fn(_) | Item::Mod(_)))
        );
    }
}
