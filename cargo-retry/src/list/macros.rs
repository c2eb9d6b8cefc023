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
                    all.push(Found {
                        span,
                        form: Form::Function,
                        arguments,
                        name,
                    });
                }
            }
            [
                TokenTree::Ident(word),
                TokenTree::Punct(bang),
                TokenTree::Group(group),
                ..,
            ] if bang.as_char() == '!'
                && word == "retry_block"
                && is_ours(&syn::Path::from(word.clone()), "retry_block") =>
            {
                all.push(Found {
                    span: word.span(),
                    form: Form::Block,
                    arguments: group.stream(),
                    name: "retry_block!".to_owned(),
                });
            }
            _ => {}
        }
        if let TokenTree::Group(group) = token {
            all.extend(retried(&group.stream(), is_ours));
        }
    }
    all
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

/// What stands behind the next `fn`.
fn function(tokens: &[TokenTree]) -> String {
    let mut behind = tokens
        .iter()
        .skip_while(|token| !matches!(token, TokenTree::Ident(word) if word == "fn"));
    behind.next();
    let name: String = behind
        .take_while(|token| !matches!(token, TokenTree::Group(_)))
        .map(ToString::to_string)
        .collect();
    name.split('<').next().unwrap_or_default().to_owned()
}
