//! The values of a policy among the settings of a service, in a format that describes itself, such as TOML or JSON: with the
//! keys, the rules and the words of policy files.

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use serde::de::IgnoredAny;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Error as _, Serialize, SerializeMap, Serializer};

use super::{CODE_SETTINGS, CodeRow, MEANINGS, no_verdict};
use super::{ParseError, Share, Whole, Written, in_code_alone, telemetry_setting, unknown};
use super::{TELEMETRY, TELEMETRY_SETTINGS, UNLIMITED};
use crate::{
    Backoff, Codes, DefaultBudget, Jitter, Key, KeyValue, Kind, OnCode, RuleId, Telemetry, Text,
    Values, values,
};

/// A value as a format has it.
enum Given {
    Text(String),
    /// Its digits.
    Whole(String),
    Number(f64),
    Flag(bool),
    Table(Vec<(String, Given)>),
    Other,
}

impl Given {
    fn written(&self) -> Written<'_> {
        match self {
            Self::Text(text) => Written::Text(text),
            Self::Whole(digits) => Written::Whole(Whole {
                written: digits,
                digits,
                suffix: "",
            }),
            Self::Number(value) => Written::Number(*value),
            Self::Flag(value) => Written::Flag(*value),
            Self::Table(_) | Self::Other => Written::Other,
        }
    }

    /// Sets `key` to it.
    fn set(&self, key: Key, values: Values) -> Result<Values, ParseError> {
        let value = match (key.kind(), self) {
            (Kind::Budget, Self::Table(_)) => return Err(shared()),
            (Kind::Budget, _) => {
                return match self.written().in_file()? {
                    Share::None => Ok(values.without_budget()),
                    Share::Of(_) => Err(shared()),
                };
            }
            (Kind::Codes, Self::Table(rows)) => KeyValue::Codes(codes(rows)?),
            (Kind::Telemetry, Self::Table(settings)) => KeyValue::Telemetry(telemetry(settings)?),
            _ => KeyValue::in_file(key, self.written())?,
        };
        let assigned = values.assign(key, value);
        assigned.ok_or_else(|| ParseError::new(RuleId::Type, format!("expected {}", key.meaning())))
    }
}

fn codes(rows: &[(String, Given)]) -> Result<Codes, ParseError> {
    let rows = rows.iter().map(|(code, given)| {
        let Given::Table(settings) = given else {
            return CodeRow::new(code, given.written().in_file()?, None);
        };
        if let Some((key, _)) = strange(settings, CODE_SETTINGS) {
            return Err(ParseError::new(
                RuleId::R15,
                unknown(key, None, CODE_SETTINGS),
            ));
        }
        let setting = |wanted: &str| settings.iter().find(|(key, _)| key == wanted);
        let Some((_, verdict)) = setting("verdict") else {
            return Err(no_verdict(code));
        };
        let base = setting("base").map(|(_, base)| base.written().in_file());
        CodeRow::new(code, verdict.written().in_file()?, base.transpose()?)
    });
    Ok(Codes::leak(rows.collect::<Result<_, _>>()?))
}

/// Returns a setting that is none of the known ones.
fn strange<'s>(settings: &'s [(String, Given)], known: &[&str]) -> Option<&'s (String, Given)> {
    settings.iter().find(|(key, _)| !known.contains(&&**key))
}

fn telemetry(settings: &[(String, Given)]) -> Result<Telemetry, ParseError> {
    if let Some((key, _)) = strange(settings, TELEMETRY_SETTINGS) {
        return Err(ParseError::new(
            RuleId::R15,
            unknown(key, None, TELEMETRY_SETTINGS),
        ));
    }
    let mut in_order = TELEMETRY_SETTINGS
        .iter()
        .filter_map(|wanted| settings.iter().find(|(key, _)| key == wanted));
    in_order.try_fold(Telemetry::new(), |telemetry, (key, value)| {
        telemetry_setting(key, value.written(), telemetry)
    })
}

/// What to say about a budget.
fn shared() -> ParseError {
    ParseError::new(
        RuleId::X15,
        "`budget` is shared by all calls of an operation, which settings do not know; drop it here and write it in `#[retry(budget = 0.1)]`, `policy.budget(&BUDGET)` or a policy file, or write `budget = \"none\"`",
    )
}

/// What to say about a key that a policy does not have.
fn stranger(word: &str) -> ParseError {
    in_code_alone(word).unwrap_or_else(|| {
        ParseError::new(RuleId::R15, unknown(word, None, &Key::ALL.map(Key::as_str)))
    })
}

/// A mistake as an error of the format, which may add where it is.
fn error<E: Error>(wrong: &ParseError) -> E {
    E::custom(format_args!("{} ({})", wrong.message, wrong.rule.footer()))
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OfPolicy)
    }
}

struct OfPolicy;

impl<'de> Visitor<'de> for OfPolicy {
    type Value = Values;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table with the keys of a policy, such as `max = 4`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Values, A::Error> {
        let (mut values, mut seen) = (Values::new(), Vec::new());
        while let Some(word) = map.next_key::<String>()? {
            values = map.next_value_seed(Setting {
                word: &word,
                seen: &seen,
                values,
            })?;
            seen.push(word);
        }
        match values.known_violation(&[]) {
            Some(violation) => Err(A::Error::custom(violation)),
            None => Ok(values),
        }
    }
}

/// One key: so a format that knows where it is says the place of its value.
struct Setting<'a> {
    word: &'a str,
    seen: &'a [String],
    values: Values,
}

impl<'de> DeserializeSeed<'de> for Setting<'_> {
    type Value = Values;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Values, D::Error> {
        let given = Given::deserialize(deserializer)?;
        if self.seen.iter().any(|word| word == self.word) {
            let message = format!("`{}` is given twice; drop one of them", self.word);
            return Err(error(&ParseError::new(RuleId::R16, message)));
        }
        let key = Key::from_name(self.word).ok_or_else(|| stranger(self.word));
        key.and_then(|key| given.set(key, self.values))
            .map_err(|wrong| error(&wrong))
    }
}

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OfValue)
    }
}

struct OfValue;

impl<'de> Visitor<'de> for OfValue {
    type Value = Given;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of a policy")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Given, E> {
        Ok(Given::Flag(value))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "below 0, where the message is all that is made of it"
    )]
    fn visit_i64<E: Error>(self, value: i64) -> Result<Given, E> {
        Ok(match u64::try_from(value) {
            Ok(value) => Given::Whole(value.to_string()),
            Err(_) => Given::Number(value as f64),
        })
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Given, E> {
        Ok(Given::Whole(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Given, E> {
        Ok(Given::Number(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Given, E> {
        Ok(Given::Text(text.to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<Given, E> {
        Ok(Given::Other)
    }

    fn visit_none<E: Error>(self) -> Result<Given, E> {
        Ok(Given::Other)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Given, D::Error> {
        Given::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Given, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Given::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Given, A::Error> {
        let mut table = Vec::new();
        while let Some(entry) = map.next_entry()? {
            table.push(entry);
        }
        Ok(Given::Table(table))
    }
}

/// The keys that are given, as a policy file has them.
impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.decided || self.is_budgeted() {
            return Err(S::Error::custom(
                "a policy with a strategy or a budget has no written form; give it both in the code",
            ));
        }
        let mut map = serializer.serialize_map(None)?;
        for key in Key::ALL.into_iter().filter(|key| self.has(*key)) {
            self.write(key, &mut map)?;
        }
        if matches!(self.default_budget, DefaultBudget::None) {
            map.serialize_entry(Key::Budget.as_str(), "none")?;
        }
        map.end()
    }
}

impl Values {
    fn write<M: SerializeMap>(&self, key: Key, map: &mut M) -> Result<(), M::Error> {
        let name = key.as_str();
        let Some(value) = self.value(key) else {
            return Ok(());
        };
        match value {
            KeyValue::Attempts(values::UNLIMITED) => map.serialize_entry(name, UNLIMITED),
            KeyValue::Attempts(max) => map.serialize_entry(name, &max),
            KeyValue::Backoff(Backoff::Custom(_)) => Err(M::Error::custom(
                "a function cannot be written; give `backoff` in the code, or a shape such as `backoff = \"exp\"`",
            )),
            KeyValue::Backoff(shape) => map.serialize_entry(name, shape.as_str()),
            KeyValue::Time(time) => map.serialize_entry(name, &exact(time)),
            KeyValue::Factor(factor) => map.serialize_entry(name, &factor),
            KeyValue::Jitter(Jitter::Ratio(ratio)) => map.serialize_entry(name, &ratio),
            KeyValue::Jitter(jitter) => map.serialize_entry(name, jitter.as_str()),
            KeyValue::Flag(flag) => map.serialize_entry(name, &flag),
            KeyValue::Codes(codes) => map.serialize_entry(name, &Rows(codes)),
            KeyValue::Nested(nested) => map.serialize_entry(name, nested.as_str()),
            KeyValue::Priority(priority) => map.serialize_entry(name, priority.as_str()),
            // What is given has no written form, and what is not is written beside the keys.
            KeyValue::Budget => Ok(()),
            KeyValue::Telemetry(telemetry) => map.serialize_entry(name, &Shown(telemetry)),
        }
    }
}

/// A duration as people write it, or else in nanoseconds, so that the same is read.
fn exact(duration: Duration) -> String {
    let text = Text::new().duration(duration, "");
    if crate::duration::parse(text.as_str()) == Ok(duration) {
        text.as_str().to_owned()
    } else {
        format!("{}ns", duration.as_nanos())
    }
}

/// The word of a value in its table.
fn word<T: PartialEq>(value: &T, table: &[(&'static str, T)]) -> &'static str {
    let found = table.iter().find(|(_, other)| other == value);
    found.map_or("", |(word, _)| word)
}

/// A table of codes, as a table.
struct Rows(Codes);

impl Serialize for Rows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for row in self.0.rows() {
            map.serialize_entry(row.code, &Row(row))?;
        }
        map.end()
    }
}

/// A row as its verdict, or else as a table.
struct Row(&'static OnCode);

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let verdict = word(&self.0.meaning, MEANINGS);
        let Some(base) = self.0.base else {
            return serializer.serialize_str(verdict);
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("verdict", verdict)?;
        map.serialize_entry("base", &exact(base))?;
        map.end()
    }
}

/// Telemetry as a word, or else as a table.
struct Shown(Telemetry);

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(shown) = self;
        if let Some((word, _)) = TELEMETRY.iter().find(|(_, known)| known == shown) {
            return serializer.serialize_str(word);
        }
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("retry", shown.later_retry.as_str())?;
        map.serialize_entry("first_retry", shown.first_retry.as_str())?;
        map.serialize_entry("give_up", shown.give_up.as_str())?;
        map.serialize_entry("recovery", shown.recovery.as_str())?;
        map.serialize_entry("timings", &shown.has_timings())?;
        map.serialize_entry("spans", &shown.has_spans())?;
        map.serialize_entry("give_up_interval", &exact(shown.give_up_interval))?;
        map.end()
    }
}
