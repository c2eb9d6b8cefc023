//! What the rules of a `macro_rules!` retry: seen as text, since nobody has called it yet.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

use super::sites::Form;

/// An attribute or a block in a rule.
pub(crate) struct Found {
    pub(crate) span: Span,
    pub(crate) form: Form,
    pub(crate) arguments: TokenStream,
    /// Of the function, as far as the rule tells.
    pub(crate) name: String,
    /// Whether an attempt can be cut off.
    pub(crate) is_async: bool,
}

/// All of them, at any depth. `is_ours` knows paths.
pub(crate) fn retried(
    tokens: &TokenStream,
    is_ours: &dyn Fn(&syn::Path, &str) -> bool,
) -> Vec<Found> {
    let list: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut all = Vec::new();
    for (index, token) in list.iter().enumerate() {
        let rest = list.get(index..).unwrap_or_default();
        match rest {
            [TokenTree::Punct(hash), TokenTree::Group(group), after @ ..]
                if hash.as_char() == '#' && group.delimiter() == Delimiter::Bracket =>
            {
                let Some((path, arguments)) = split(group.stream()) else {
                    continue;
                };
                if is_ours(&path, "retry") {
                    let span = syn::spanned::Spanned::span(&path);
                    let name = function(after);
                    let before_name = after.iter().take_while(|token| !is_word(token, "fn"));
                    let is_async = before_name.filter(|token| is_word(token, "async")).count() > 0;
                    all.push(Found {
                        span,
                        form: Form::Function,
                        arguments,
                        name,
                        is_async,
                    });
                }
            }
            [TokenTree::Punct(bang), TokenTree::Group(group), ..] if bang.as_char() == '!' => {
                let Some(path) = path_before(list.get(..index).unwrap_or_default()) else {
                    continue;
                };
                if is_ours(&path, "retry_block") {
                    let body = group.stream().into_iter();
                    all.push(Found {
                        is_async: body.filter(|token| is_word(token, "async")).count() > 0,
                        span: syn::spanned::Spanned::span(&path),
                        form: Form::Block,
                        arguments: group.stream(),
                        name: "retry_block!".to_owned(),
                    });
                }
            }
            _ => {}
        }
        if let TokenTree::Group(group) = token {
            all.extend(retried(&group.stream(), is_ours));
        }
    }
    all
}

/// The path at whose end a `!` stands.
fn path_before(tokens: &[TokenTree]) -> Option<syn::Path> {
    let is_colon =
        |token: &TokenTree| matches!(token, TokenTree::Punct(sign) if sign.as_char() == ':');
    let mut start = tokens.len();
    let mut expects_name = true;
    for (index, token) in tokens.iter().enumerate().rev() {
        match token {
            TokenTree::Ident(_) if expects_name => expects_name = false,
            token if is_colon(token) => expects_name = true,
            _ => break,
        }
        start = index;
    }
    let path: TokenStream = tokens.get(start..)?.iter().cloned().collect();
    syn::parse2(path).ok()
}

/// The path of an attribute and what stands in its parentheses. `$crate` is no path to the parser.
fn split(tokens: TokenStream) -> Option<(syn::Path, TokenStream)> {
    let is_dollar =
        |token: &TokenTree| matches!(token, TokenTree::Punct(sign) if sign.as_char() == '$');
    let mut rest = tokens.into_iter().skip_while(is_dollar).peekable();
    let mut path = TokenStream::new();
    while let Some(token) = rest.next_if(|token| !matches!(token, TokenTree::Group(_))) {
        path.extend([token]);
    }
    let arguments = match rest.next() {
        Some(TokenTree::Group(group)) => group.stream(),
        _ => TokenStream::new(),
    };
    Some((syn::parse2(path).ok()?, arguments))
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

/// What stands behind the next `fn`.
fn function(tokens: &[TokenTree]) -> String {
    let mut behind = tokens.iter().skip_while(|token| !is_word(token, "fn"));
    behind.next();
    let name: String = behind
        .take_while(|token| !matches!(token, TokenTree::Group(_)))
        .map(ToString::to_string)
        .collect();
    name.split('<').next().unwrap_or_default().to_owned()
}
