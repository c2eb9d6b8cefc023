//! What every form expands to, and where, as a sum of four digits: `forms.txt` has what people write, and a file of each
//! section the sums. So a change that is meant to change no expansion changes none. `UPDATE_EXPECT=1` writes the sums,
//! `FORMS=FOLDER` the expansions themselves, to be compared with those of the state before.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use reattempt_syntax::keys::KEYS;

use super::errors::of_classify;
use super::index::expansions;

/// The lines of a section.
fn forms(section: &str) -> Vec<&'static str> {
    let rest = include_str!("forms.txt")
        .split(&format!("[{section}]\n"))
        .nth(1);
    let rest = rest.unwrap_or_else(|| panic!("no section {section}"));
    rest.split("\n\n[")
        .next()
        .unwrap_or_default()
        .lines()
        .collect()
}

fn tokens(text: &str) -> TokenStream {
    text.parse()
        .unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// The first digits of the sum of Fowler, Noll and Vo.
fn sum(text: &str) -> u64 {
    let letters = text.bytes().filter(|byte| !byte.is_ascii_whitespace());
    letters.fold(0xcbf2_9ce4_8422_2325, |sum: u64, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    }) >> 48
}

/// Compares the rows of a table, each of a name and expansions.
fn compare(table: &str, rows: impl IntoIterator<Item = (String, Vec<TokenStream>)>) {
    let rows: Vec<_> = rows.into_iter().map(texts).collect();
    compare_texts(table, &rows);
}

fn texts((name, row): (String, Vec<TokenStream>)) -> (String, Vec<String>) {
    (name, row.into_iter().map(text).collect())
}

/// An expansion, and behind it where the tokens stand that the user has written, or that are located there: lines count from
/// the first of them.
fn text(expansion: TokenStream) -> String {
    let mut text = expansion.to_string();
    places(expansion, &mut None, &mut text);
    text
}

fn places(tokens: TokenStream, first: &mut Option<usize>, all: &mut String) {
    for (number, token) in tokens.into_iter().enumerate() {
        let place = token.span().start();
        if place != Span::call_site().start() {
            let line = place.line.wrapping_sub(*first.get_or_insert(place.line));
            write!(all, " {number}@{line}:{}", place.column).expect("a string");
        }
        if let TokenTree::Group(group) = token {
            all.push_str(" (");
            places(group.stream(), first, all);
        }
    }
}

fn compare_texts(table: &str, rows: &[(String, Vec<String>)]) {
    if let Some(folder) = env::var_os("FORMS") {
        let text = rows
            .iter()
            .flat_map(|(name, row)| row.iter().map(move |it| format!("{name}: {it}\n")));
        fs::write(Path::new(&folder).join(table), text.collect::<String>()).expect("a folder");
    }
    let now = rows.iter().fold(String::new(), |mut all, (name, row)| {
        let sums = row.iter().map(|it| format!("{:04x}", sum(it)));
        let sums: Vec<_> = sums.collect();
        writeln!(all, "{name}: {}", sums.join(" ")).expect("a string");
        all
    });
    let path = format!("{}/src/tests/forms.{table}.txt", env!("CARGO_MANIFEST_DIR"));
    let then = fs::read_to_string(&path).unwrap_or_default();
    if env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(path, now).expect("the sums");
    } else {
        let others = others(&now, &then);
        assert!(
            now == then,
            "forms.{table}.txt: other expansions of {others:#?}\nwhere that is meant: UPDATE_EXPECT=1 cargo test -p retry-macros --lib forms"
        );
    }
}

/// The rows that are not the same, and where each begins to differ.
fn others(now: &str, then: &str) -> Vec<String> {
    let rows = |text: &str| -> BTreeMap<String, Vec<String>> {
        let rows = text.lines().filter_map(|line| line.rsplit_once(": "));
        let sums = |row: &str| row.split(' ').map(str::to_owned).collect();
        rows.map(|(name, row)| (name.to_owned(), sums(row)))
            .collect()
    };
    let (mut now, then) = (rows(now), rows(then));
    let differs = then.into_iter().filter_map(|(name, then)| {
        let Some(now) = now.remove(&name) else {
            return Some(format!("{name}: gone"));
        };
        let (all, before) = (now.len(), then.len());
        let same = now.iter().zip(&then).take_while(|(a, b)| a == b).count();
        (now != then).then(|| format!("{name}: number {} of {all}, before {before}", same + 1))
    });
    let mut differs: Vec<_> = differs.collect();
    differs.extend(now.into_keys().map(|name| format!("{name}: new")));
    differs
}

const ASYNC: &str =
    "async fn fetch(&self, x: u32, name: String) -> Result<u32, Shop> { self.get(x).await }";
const SYNC: &str = "fn fetch(&mut self, x: &u32, name: &str) -> Result<u32, Shop> { self.get(x) }";

fn attribute(arguments: &TokenStream, item: &str) -> TokenStream {
    crate::expand::attribute(arguments, tokens(item))
}

/// Keys that take code of many forms. Others meet some of the values.
const OF_CODE: &[&str] = &["max", "budget", "on", "before_retry", "policy"];

#[test]
fn each_key_with_its_values() {
    let row = |(place, key): (usize, &&str)| {
        let values = forms("values").into_iter().enumerate();
        let some = values.filter(|(other, _)| OF_CODE.contains(key) || (place + other) % 6 == 0);
        let row = some.map(|(_, value)| attribute(&tokens(&format!("{key} = {value}")), ASYNC));
        ((*key).to_owned(), row.collect())
    };
    compare("values", KEYS.iter().enumerate().map(row));
}

#[test]
fn a_value_that_a_macro_was_given() {
    let row = |key: &str| {
        let row = forms("values").into_iter().map(|value| {
            let mut arguments = tokens(&format!("{key} = "));
            let value = Group::new(Delimiter::None, tokens(value));
            arguments.extend([TokenTree::from(value)]);
            attribute(&arguments, SYNC)
        });
        (key.to_owned(), row.collect())
    };
    compare("grouped", ["max", "on", "before_retry", "policy"].map(row));
}

#[test]
fn each_attribute_on_each_function() {
    let (attributes, functions) = (forms("attributes"), forms("functions"));
    // Some functions with all, and all with some.
    let row = |(place, function): (usize, &&str)| {
        let kept = |other: &usize| place % 10 == 5 || other.is_multiple_of(10);
        let some = (0..attributes.len()).filter(kept);
        let row = some.map(|other| attribute(&tokens(attributes[other]), function));
        ((*function).to_owned(), row.collect())
    };
    compare("functions", functions.iter().enumerate().map(row));
}

#[test]
fn each_body_of_a_function() {
    let of = |body: &'static str| {
        let heads = [
            (
                "max = 3",
                "fn fetch(self, x: u32, name: String, mut names: Vec<String>) -> Result<u32, Shop>",
            ),
            (
                "max = 3",
                "async fn fetch(self, x: u32, name: String, mut names: Vec<String>) -> Result<u32, Shop>",
            ),
            (
                "timeout = \"1s\"",
                "async fn fetch<'a>(&'a self, x: &'a mut u32, name: &'a str, names: Vec<&'a str>) -> Result<&'a str, Shop>",
            ),
            (
                "hedge = \"1s\", idempotent",
                "async fn fetch<N, M>(&mut self, mut x: u32, name: N, names: &[M]) -> impl Iterator<Item = N>",
            ),
        ];
        let row = heads.map(|(arguments, head)| {
            attribute(&tokens(arguments), &format!("{head} {{ {body} }}"))
        });
        (body.to_owned(), row.into())
    };
    compare("bodies", forms("bodies").into_iter().map(of));
}

#[test]
fn each_block() {
    let of = |block: &'static str| (block.to_owned(), vec![crate::expand::block(tokens(block))]);
    compare("blocks", forms("blocks").into_iter().map(of));
}

#[test]
fn each_derive() {
    let of = |item: &'static str| (item.to_owned(), vec![crate::classify::derive(tokens(item))]);
    compare("derives", forms("derives").into_iter().map(of));
}

#[test]
fn each_program() {
    let of = |program: &'static str| {
        let row = expansions(program, of_classify);
        let row = row.unwrap_or_else(|error| panic!("{error} in {program}"));
        assert!(!row.is_empty(), "{program}");
        (program.to_owned(), row)
    };
    compare("programs", forms("programs").into_iter().map(of));
}

/// Keys with the values that change most.
const PAIRED: &[&str] = &[
    "max = 3",
    "max = self.max",
    "max = 1",
    "policy = POLICY",
    "policy = \"shop\"",
    "policy = self.policy",
    "on(Shop::Full)",
    "except = is_full",
    "until = |page| page.is_done()",
    "timeout = \"1s\"",
    "timeout = |retry| retry.limit()",
    "deadline = \"5s\"",
    "deadline = LIMIT",
    "max_elapsed = \"1m\"",
    "budget = \"none\"",
    "budget = BUDGET",
    "budget = self.budget",
    "breaker = BREAKER",
    "bulkhead = BULKHEAD",
    "hedge = \"100ms\", idempotent",
    "idempotent = false",
    "verify = |page| page.check()",
    "verify = || check()",
    "on_retry = |retry| log(retry)",
    "on_give_up = log",
    "before_retry = |_| login()",
    "before_retry = async |retry| login(retry).await",
    "map_err = |error: RetryError<Shop>| error.into()",
    "fallback = || Ok(page())",
    "fallback = |error| give(error)",
    "context = attempt",
    "clone(name)",
    "strategy = STRATEGY",
    "strategy = |failure| decide(failure)",
    "backoff = \"fixed\", base = \"1s\", jitter = \"none\"",
    "retry_after = |error| error.after()",
    "history",
    "cut_off = false",
    "detail = |end| log(end)",
    "timer = TIMER",
    "telemetry = \"quiet\"",
    "nested = \"multiply\"",
];

#[test]
fn each_pair_of_keys() {
    let row = |(place, first): (usize, &&str)| {
        let others = PAIRED.iter().enumerate().skip(place + 1);
        let row = others.map(|(other, second)| {
            let item = if (place + other) % 3 == 0 {
                SYNC
            } else {
                ASYNC
            };
            attribute(&tokens(&format!("{first}, {second}")), item)
        });
        ((*first).to_owned(), row.collect())
    };
    compare("pairs", PAIRED.iter().enumerate().map(row));
}
