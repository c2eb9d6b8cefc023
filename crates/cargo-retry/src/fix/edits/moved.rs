//! What gives the next attempt a parameter that the body moves.

use std::ops::Range;

use proc_macro2::Delimiter;
use syn::{FnArg, Pat, PatIdent};

use super::{Edit, Function, Place, tokens};

impl Place<'_> {
    /// `clone(x)` for a parameter that the body moves, where nothing else has to change first.
    pub(super) fn cloned(&self) -> Option<Vec<Edit>> {
        let function = self.function()?;
        let moved = match self.fault.rule.as_str() {
            "S6" => {
                let (_, behind) = self.fault.message.split_once("; write `clone(")?;
                let (names, _) = behind.split_once(')')?;
                names.split(", ").map(str::to_owned).collect()
            }
            _ => vec![tokens::token(&self.tokens, self.at)?.to_string()],
        };
        if !moved.iter().all(|it| parameter(&function, it).is_some()) {
            return None;
        }
        let keys = self.attribute("retry", 0)?;
        if let Some(known) = keys.items.iter().find(|it| it.key == "clone") {
            let cloned = self.source(known.all.clone()).to_owned();
            let is_cloned = |name: &String| {
                let mut words = cloned.split(|it: char| !it.is_alphanumeric() && it != '_');
                words.any(|word| word == name)
            };
            let more: Vec<_> = moved.iter().filter(|it| !is_cloned(it)).cloned().collect();
            let end = known.all.end.saturating_sub(1);
            return (!more.is_empty()).then(|| vec![(end..end, format!(", {}", more.join(", ")))]);
        }
        let place = Place {
            keys: Some(keys),
            tokens: self.tokens.clone(),
            ..*self
        };
        place.item(&format!("clone({})", moved.join(", ")))
    }

    /// `&x` in the body, or another borrow that the message writes, for the one parameter that is moved there.
    pub(super) fn by_borrow(&self) -> Option<Vec<Edit>> {
        let name = tokens::token(&self.tokens, self.at)?.to_string();
        let (_, advice) = self.fault.message.split_once("; ")?;
        let declared = format!("declare `mut {name}` and ");
        let (is_changed, advice) = match advice.strip_prefix(&declared) {
            Some(rest) => (true, rest),
            None => (false, advice),
        };
        let (code, rest) = advice.strip_prefix("write `")?.split_once('`')?;
        let is_one = rest.strip_prefix(" in the body")?;
        if !code.contains(&name) || is_one.starts_with(" and ") {
            return None;
        }
        let (place, code) = self.token(code)?;
        if !self.may_be_borrowed(&place) {
            return None;
        }
        let mut edits = vec![(place, code)];
        let function = self.function()?;
        let parameter = parameter(&function, &name)?;
        if is_changed && parameter.mutability.is_none() {
            let start = parameter.ident.span().byte_range().start;
            edits.push((start..start, "mut ".to_owned()));
        }
        Some(edits)
    }

    /// Whether a borrow can stand in the place of a name: not that of a field in short, `Encoder { writer, level: 3 }`, and
    /// not behind a `&`, which has not helped.
    fn may_be_borrowed(&self, name: &Range<usize>) -> bool {
        let before = self.source(0..name.start).trim_end();
        let after = self.source(name.end..self.text.len()).trim_start();
        let is_listed = before.ends_with(['{', ',']) && after.starts_with([',', '}']);
        let is_in_braces = tokens::delimiter(&self.tokens, self.at) == Some(Delimiter::Brace);
        let is_field = is_listed && is_in_braces;
        !before.ends_with('&') && !before.ends_with("&mut") && !is_field
    }
}

fn parameter<'f>(function: &'f Function, name: &str) -> Option<&'f PatIdent> {
    function.signature.inputs.iter().find_map(|it| match it {
        FnArg::Typed(it) => match &*it.pat {
            Pat::Ident(it) if it.ident == name => Some(it),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    })
}
