//! Whether code is nested as nobody writes it and as no stack can hold it: who reads it, and who drops what was read,
//! goes a level down for each bracket, sign and operator.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Signs and operators in one expression or type; chains that programs write have some thousands.
const LONG: usize = 8_000;

/// Whether brackets, or types in each other's `<>`, are more than `levels` deep, or an expression is longer than any.
pub(crate) fn is_deep(text: &str, levels: usize) -> bool {
    if has_brackets(text, levels) {
        return true;
    }
    // What is no code at all is refused by who reads it.
    let tokens = without_shebang(text).parse::<TokenStream>();
    let mut open = Vec::from_iter(tokens);
    while let Some(tokens) = open.pop() {
        let mut chain = Chain::default();
        for token in tokens {
            chain.follow(&token);
            if chain.angles > levels || chain.length > LONG || chain.signs > LONG {
                return true;
            }
            if let TokenTree::Group(group) = token {
                open.push(group.stream());
            }
        }
    }
    false
}

fn has_brackets(text: &str, levels: usize) -> bool {
    let mut depth = 0_usize;
    let deepest = text.bytes().map(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth = depth.saturating_add(1),
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth
    });
    // Brackets in texts count, too, since only what is far beyond is refused.
    deepest.max().unwrap_or_default() > levels
}

/// As the compiler reads it: without its mark and a first line for the shell.
fn without_shebang(text: &str) -> &str {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.strip_prefix("#!") {
        Some(rest) if !rest.trim_start().starts_with('[') => {
            rest.split_once('\n').map_or("", |(_, code)| code)
        }
        _ => text,
    }
}

/// What of a row of tokens may nest without a bracket.
#[derive(Default)]
struct Chain {
    /// Since the last comma.
    length: usize,
    /// What a comma does not end: `|a, b| |a, b| x`.
    signs: usize,
    /// `<` that no `>` has closed.
    angles: usize,
    before: Before,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Nothing,
    Sign(char),
    Braces,
    Brackets,
    Else,
    Word,
}

impl Chain {
    fn follow(&mut self, token: &TokenTree) {
        let before = self.before;
        self.before = match token {
            TokenTree::Punct(punct) => {
                self.sign(punct.as_char());
                Before::Sign(punct.as_char())
            }
            TokenTree::Ident(word) => {
                let word = word.to_string();
                // `{ ... } x`: another statement.
                let goes_on = ["else", "as"].contains(&&*word) || before == Before::Else;
                if before == Before::Braces && !goes_on {
                    self.end();
                }
                if is_prefix(&word) {
                    self.length = self.length.saturating_add(1);
                }
                if word == "else" {
                    Before::Else
                } else {
                    Before::Word
                }
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Before::Braces,
            TokenTree::Group(_) => {
                // `f()()`, `a[0][0]`.
                let is_chained = before == Before::Brackets;
                self.length = self.length.saturating_add(is_chained.into());
                Before::Brackets
            }
            TokenTree::Literal(_) => Before::Word,
        };
    }

    fn sign(&mut self, sign: char) {
        match sign {
            ';' => self.end(),
            '>' if self.before == Before::Sign('=') => self.end(),
            '>' if self.before == Before::Sign('-') => {}
            '>' => self.angles = self.angles.saturating_sub(1),
            ',' => self.length = 0,
            // Names and attributes.
            ':' | '#' | '$' | '\'' => {}
            _ => {
                self.length = self.length.saturating_add(1);
                if sign == '<' {
                    self.angles = self.angles.saturating_add(1);
                } else if sign == '|' && self.before == Before::Sign('|') {
                    self.signs = self.signs.saturating_add(1);
                }
            }
        }
    }

    fn end(&mut self) {
        (self.length, self.signs, self.angles) = (0, 0, 0);
    }
}

/// Words that an expression or a type may begin with, again and again.
fn is_prefix(word: &str) -> bool {
    [
        "as", "async", "await", "box", "break", "const", "dyn", "else", "for", "if", "impl", "in",
        "let", "match", "move", "mut", "raw", "ref", "return", "static", "unsafe", "while",
        "yield",
    ]
    .contains(&word)
}

#[cfg(test)]
mod tests {
    use super::is_deep;

    #[test]
    fn whatever_nests_counts() {
        for (before, again, after) in [
            ("fn f() { ", "(", ""),
            ("type T = ", "Box<", ""),
            ("type T = ", "Map<u8, Box<", ""),
            ("type T = ", "*const ", "u8;"),
            ("type T = ", "fn() -> ", "u8;"),
            ("type T = ", "for<'a> ", "u8;"),
            ("fn f() { ", "return ", "}"),
            ("fn f() { x = ", "-", "1; }"),
            ("fn f() { x = ", "- ", "1; }"),
            ("fn f() { 1", "+1", "}"),
            ("fn f() { x", " as u8", "}"),
            ("fn f() { x", ".a()", "}"),
            ("fn f() { x", "()", "}"),
            ("fn f() { x", "[0]", "}"),
            ("fn f() { x", "?", "}"),
            ("fn f() { ", "|a| ", "1 }"),
            ("fn f() { ", "|a, b| ", "1 }"),
            ("fn f() { if a {}", " else if a {}", "}"),
            ("fn f() { ", "a = ", "1 }"),
            ("x! { ", "&", "1 }"),
            ("#!/bin/sh '\nfn f() { ", "!", "1 }"),
        ] {
            let text = |times: usize| format!("{before}{}{after}", again.repeat(times));
            assert!(is_deep(&text(20_000), 2_000), "{again}");
            assert!(!is_deep(&text(900), 2_000), "{again}");
        }
    }

    #[test]
    fn what_is_only_long_does_not() {
        for again in [
            "x = -1; ",
            "if a < b { c } ",
            "if a { b } else if c { d } else { e } ",
            "match a { b => c } ",
            "a.b(); ",
            "// ---- **** <<<<\n",
            "f(\"<<<< ((\", '<'); ",
            "let a: Vec<Box<u8>> = b; ",
        ] {
            let text = format!("fn f() {{ {} }}", again.repeat(20_000));
            assert!(!is_deep(&text, 50_000), "{again}");
        }
        let table = format!(
            "const T: &[u8] = &[{}];",
            "A | B, -1, 2 + 3, ".repeat(20_000)
        );
        assert!(!is_deep(&table, 2_000));
        let arms = format!(
            "match a {{ {} }}",
            "x if x < 1 => 2, A | B => 3, ".repeat(20_000)
        );
        assert!(!is_deep(&arms, 2_000));
    }
}
