//! What stands in a macro that is not known: items, statements or expressions, as far as it looks like them.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use syn::parse::discouraged::Speculative as _;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::{Attribute, Block, Expr, Item, Meta, MetaList, Stmt, Token, parse_quote};

/// Items, if it looks like items: in `cfg_if! { if #[cfg(unix)] { fn f() {} } }`, those in the innermost braces, with
/// the conditions in front of these.
pub(crate) fn items(tokens: TokenStream) -> Vec<Item> {
    if let Ok(items) = all_items.parse2(tokens.clone()) {
        return items;
    }
    let mut items = Vec::new();
    // What the branches before have asked for, and what this one asks for.
    let (mut before, mut here) = (Vec::new(), None);
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match (token, tokens.peek()) {
            (TokenTree::Punct(hash), Some(TokenTree::Group(group))) if hash.as_char() == '#' => {
                here = condition(group.stream());
            }
            (TokenTree::Group(group), next) if group.delimiter() == Delimiter::Brace => {
                let is_last = !matches!(next, Some(TokenTree::Ident(word)) if word == "else");
                let mut own: Vec<Meta> = before.iter().filter_map(not).collect();
                own.extend(here.clone());
                items.extend(self::items(group.stream()).into_iter().map(|mut item| {
                    if let Some(attributes) = attributes(&mut item) {
                        attributes.extend(own.iter().map(|it| parse_quote!(#[cfg(#it)])));
                    }
                    item
                }));
                before.extend(here.take());
                if is_last {
                    before.clear();
                }
            }
            _ => {}
        }
    }
    items
}

fn not(condition: &Meta) -> Option<Meta> {
    // From a text, so that it is written as people write it.
    syn::parse_str(&format!("not({})", super::written(condition))).ok()
}

/// That of `cfg(...)`.
fn condition(attribute: TokenStream) -> Option<Meta> {
    let list: MetaList = syn::parse2(attribute).ok()?;
    list.path.is_ident("cfg").then(|| list.parse_args().ok())?
}

pub(crate) fn attributes(item: &mut Item) -> Option<&mut Vec<Attribute>> {
    Some(match item {
        Item::Const(item) => &mut item.attrs,
        Item::Enum(item) => &mut item.attrs,
        Item::ExternCrate(item) => &mut item.attrs,
        Item::Fn(item) => &mut item.attrs,
        Item::Impl(item) => &mut item.attrs,
        Item::Macro(item) => &mut item.attrs,
        Item::Mod(item) => &mut item.attrs,
        Item::Static(item) => &mut item.attrs,
        Item::Struct(item) => &mut item.attrs,
        Item::Trait(item) => &mut item.attrs,
        Item::Use(item) => &mut item.attrs,
        _ => return None,
    })
}

fn all_items(input: ParseStream<'_>) -> syn::Result<Vec<Item>> {
    // `feature! { #![unix] mod pipe; }`
    Attribute::parse_inner(input)?;
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

/// The items of a file that has others, too, which nobody can read.
pub(crate) fn readable(tokens: TokenStream) -> Vec<Item> {
    let some_items = |input: ParseStream<'_>| {
        Attribute::parse_inner(input)?;
        let mut items = Vec::new();
        while !input.is_empty() {
            let ahead = input.fork();
            if let Ok(item) = ahead.parse() {
                input.advance_to(&ahead);
                items.push(item);
                continue;
            }
            // To the end of what looks like an item.
            while let Ok(token) = input.parse::<TokenTree>() {
                let is_end = match &token {
                    TokenTree::Punct(sign) => sign.as_char() == ';',
                    TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                    _ => false,
                };
                if is_end {
                    break;
                }
            }
        }
        Ok(items)
    };
    some_items.parse2(tokens).unwrap_or_default()
}

/// Statements and expressions; what cannot be read as either is left out.
pub(crate) fn statements(tokens: &TokenStream) -> Vec<Stmt> {
    let within = |input: ParseStream<'_>| {
        Attribute::parse_inner(input)?;
        Block::parse_within(input)
    };
    if let Ok(statements) = within.parse2(tokens.clone()) {
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
        let text =
            "if #[cfg(unix)] { fn a() {} mod b; } else if #[cfg(windows)] {} else { fn c() {} }";
        let items = items(text.parse().expect("these are tokens"));
        assert_eq!(items.len(), 3);
        let conditions = crate::code::conditions::of;
        let conditions = items.iter().map(|item| match item {
            Item::Fn(item) => conditions(&item.attrs).join(" and "),
            _ => String::new(),
        });
        let conditions: Vec<_> = conditions.collect();
        assert_eq!(conditions, ["unix", "", "not(unix) and not(windows)"]);
        assert!(
            items
                .iter()
                .all(|item| matches!(item, Item::Fn(_) | Item::Mod(_)))
        );
    }

    #[test]
    fn attributes_of_a_macro() {
        let text = "#![unix] mod a; #[test] fn b() {}";
        let tokens: TokenStream = text.parse().expect("these are tokens");
        assert_eq!(items(tokens.clone()).len(), 2);
        assert_eq!(statements(&tokens).len(), 2);
    }
}
