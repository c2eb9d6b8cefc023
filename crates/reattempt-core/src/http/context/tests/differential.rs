//! The same bytes read by the crate `sfv`: its Dictionary gives the same fields.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::cell::Cell;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use sfv::{BareItem, Dictionary, ListEntry, Parser};

use super::super::{AnswerField, RequestField};

fn dictionary(bytes: &[u8]) -> Option<Dictionary> {
    Parser::new(bytes).parse().ok()
}

/// The bare item of a member, unless that is a list.
fn item<'a>(dictionary: &'a Dictionary, key: &str) -> Option<&'a BareItem> {
    match dictionary.get(key)? {
        ListEntry::Item(item) => Some(&item.bare_item),
        ListEntry::InnerList(_) => None,
    }
}

fn time(dictionary: &Dictionary, key: &str) -> Option<Duration> {
    let micros = match item(dictionary, key)? {
        BareItem::Integer(millis) => i64::from(*millis) * 1_000,
        BareItem::Decimal(millis) => i64::from(millis.as_integer_scaled_1000()),
        _ => return None,
    };
    u64::try_from(micros).ok().map(Duration::from_micros)
}

fn is_true(dictionary: &Dictionary, key: &str) -> bool {
    item(dictionary, key).and_then(BareItem::as_boolean) == Some(true)
}

fn is_path(name: &str) -> bool {
    let parts: Vec<_> = name.split('.').collect();
    let is_of_part = |char: char| char.is_ascii_alphanumeric() || char == '-' || char == '_';
    let mut all = parts.iter();
    parts.len() <= 8
        && all.all(|part| (1..=16).contains(&part.len()) && part.chars().all(is_of_part))
}

fn used(dictionary: &Dictionary) -> Vec<Box<str>> {
    let Some(ListEntry::InnerList(list)) = dictionary.get("used") else {
        return Vec::new();
    };
    let names = list.items.iter().map(|item| {
        let name = item.bare_item.as_string()?.as_str();
        is_path(name).then(|| name.into())
    });
    let mut names: Vec<_> = names.collect::<Option<_>>().unwrap_or_default();
    names.truncate(16);
    names
}

fn ordinal(dictionary: &Dictionary, key: &str) -> Option<u32> {
    let number = item(dictionary, key).and_then(BareItem::as_integer)?;
    let number = Some(i64::from(number)).filter(|number| *number >= 1)?;
    Some(number.try_into().unwrap_or(u32::MAX))
}

fn request(dictionary: &Dictionary) -> RequestField {
    let priority = item(dictionary, "priority").and_then(BareItem::as_token);
    RequestField {
        left: time(dictionary, "left"),
        attempt: ordinal(dictionary, "attempt").unwrap_or(1),
        is_low: priority.is_some_and(|priority| priority.as_str() == "low"),
        from: item(dictionary, "from")
            .and_then(BareItem::as_string)
            .map(sfv::StringRef::as_str)
            .filter(|from| is_path(from) && !from.contains('.'))
            .map(Box::from),
        used: used(dictionary),
    }
}

fn answer(dictionary: &Dictionary) -> AnswerField {
    AnswerField {
        after: time(dictionary, "after"),
        is_final: is_true(dictionary, "final"),
        is_expired: is_true(dictionary, "expired"),
        callers: ordinal(dictionary, "callers"),
        used: used(dictionary),
    }
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "-?[0-9]{1,5}",
        2 => r"-?[0-9]{1,5}\.[0-9]{1,3}",
        1 => "-?[0-9]{14,16}",
        1 => r"-?[0-9]{11,13}\.[0-9]{0,4}",
    ]
}

fn bare_item() -> impl Strategy<Value = String> {
    prop_oneof![
        number(),
        r#""([ -!#-\[\]-~]|\\["\\]){0,8}""#,
        "\"[a-z0-9_.-]{1,20}\"",
        "[A-Za-z*][a-zA-Z0-9!#$%&'*+.^_`|~:/-]{0,5}",
        r"\?[01]",
        "[a-zA-Z0-9+/]{0,9}={0,3}".prop_map(|digits| format!(":{digits}:")),
        number().prop_map(|number| format!("@{number}")),
        r#"%"([ -!#-$&-~]|%[2-7][0-9a-f]|%c3%[89ab][0-9a-f]|%[0-9a-f]{2}){0,4}""#,
        Just("%\"%e2%82%ac%f0%9f%92%a9\"".to_owned()),
        Just("low".to_owned()),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(vec!["left", "attempt", "used", "priority", "from", "after", "final", "expired", "callers"])
            .prop_map(str::to_owned),
        2 => "[a-z*][a-z0-9_.*-]{0,6}",
    ]
}

fn parameters() -> impl Strategy<Value = String> {
    let parameter =
        (" {0,2}", key(), prop::option::of(bare_item())).prop_map(|(space, key, value)| {
            let value = value.map(|value| format!("={value}")).unwrap_or_default();
            format!(";{space}{key}{value}")
        });
    prop_oneof![
        3 => Just(String::new()),
        1 => vec(parameter, 1..3).prop_map(|parameters| parameters.concat()),
    ]
}

fn list() -> impl Strategy<Value = String> {
    let path = r#""[A-Za-z0-9_-]{1,5}(\.[a-z0-9]{1,5}){0,2}""#;
    let item = prop_oneof![20 => path.boxed(), 1 => bare_item().boxed()];
    let items = vec(
        (item, parameters()).prop_map(|(item, parameters)| format!("{item}{parameters}")),
        0..4,
    );
    let many = vec(path, 12..20);
    let items = prop_oneof![9 => items.boxed(), 1 => many.boxed()];
    (items, " {0,1}", " {1,2}")
        .prop_map(|(items, space, between)| format!("({space}{}{space})", items.join(&between)))
}

/// A member whose value often suits its key.
fn member() -> impl Strategy<Value = String> {
    let fitting = prop_oneof![
        number().prop_map(|number| format!("left={number}")),
        number().prop_map(|number| format!("after={number}")),
        "attempt=-?[0-9]{1,11}",
        list().prop_map(|list| format!("used={list}")),
        "priority=(low|high)",
        r"(final|expired)(=\?[01])?",
    ];
    let any = (key(), prop_oneof![bare_item().boxed(), list().boxed()]);
    let any = any.prop_map(|(key, value)| format!("{key}={value}"));
    let member = prop_oneof![3 => fitting.boxed(), 1 => any.boxed(), 1 => key().boxed()];
    (member, parameters()).prop_map(|(member, parameters)| format!("{member}{parameters}"))
}

fn valid() -> impl Strategy<Value = Vec<u8>> {
    (
        vec(member(), 0..5),
        prop::sample::select(vec![",", ", ", " ,\t"]),
    )
        .prop_map(|(members, comma)| members.join(comma).into_bytes())
}

/// Replaces, inserts or takes out a few bytes.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        6 => prop::sample::select(b"\"\\()=;,:?@%*.-_ \t019afAZ~{\x7f\x1f\x80".to_vec()),
        1 => any::<u8>(),
    ];
    let change = (any::<prop::sample::Index>(), 0..3, byte);
    (valid(), vec(change, 1..3)).prop_map(|(mut bytes, changes)| {
        for (place, kind, byte) in changes {
            if bytes.is_empty() {
                bytes.push(byte);
            }
            let place = place.index(bytes.len());
            match kind {
                0 => bytes[place] = byte,
                1 => bytes.insert(place, byte),
                _ => drop(bytes.remove(place)),
            }
        }
        bytes
    })
}

/// Compares so many cases, and returns how many were Dictionaries that say something.
fn compare(cases: u32, bytes: &impl Strategy<Value = Vec<u8>>) -> u32 {
    let telling = Cell::new(0);
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let result = TestRunner::new(config).run(bytes, |bytes| {
        let text = String::from_utf8_lossy(&bytes);
        let (request, answer) = match dictionary(&bytes) {
            Some(dictionary) => (Some(request(&dictionary)), Some(answer(&dictionary))),
            None => (None, None),
        };
        prop_assert_eq!(RequestField::parse(&bytes), request.clone(), "{}", text);
        prop_assert_eq!(AnswerField::parse(&bytes), answer.clone(), "{}", text);
        let says_nothing = request.unwrap_or_default() == RequestField::default()
            && answer.unwrap_or_default() == AnswerField::default();
        telling.set(telling.get() + u32::from(!says_nothing));
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    telling.get()
}

#[test]
fn dictionaries() {
    let telling = compare(3_000, &valid());
    assert!(telling > 800, "{telling}");
}

#[test]
fn dictionaries_with_other_bytes() {
    let telling = compare(6_000, &mutated());
    assert!((250..5_000).contains(&telling), "{telling}");
}

#[test]
fn random_bytes() {
    compare(4_000, &vec(any::<u8>(), 0..40));
    let likely = prop::sample::select(b"\"\\()=;,:?@%*.- 09ax".to_vec());
    compare(10_000, &vec(likely, 0..12));
}
