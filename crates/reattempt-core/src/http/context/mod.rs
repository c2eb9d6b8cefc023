//! Reads and writes the field `Retry-Context` of requests and of answers. The layers decide what
//! follows from it.

mod dictionary;
#[cfg(test)]
mod tests;

use std::io::Write as _;
use std::time::Duration;

use http::header::GetAll;
use http::{HeaderMap, HeaderName, HeaderValue};

use dictionary::{Reader, Value};

/// The header field of both sides: a Dictionary of RFC 9651.
///
/// Several lines count as one, joined by commas. A field that is not a Dictionary, or has more than
/// 2,048 bytes, counts as missing.
pub const RETRY_CONTEXT: HeaderName = HeaderName::from_static("retry-context");

/// The most bytes of a field, with the commas between its lines.
const MAX_BYTES: usize = 2_048;

/// The most names in `used`.
pub const MAX_NAMES: usize = 16;

/// Headers that are few: those of a request of a program, which has fewer than one of a browser.
const FEW: usize = 16;

/// The most microseconds that a Decimal of milliseconds can hold.
const MAX_MICROS: u64 = 999_999_999_999_999;

/// What a request says about the retries above it.
///
/// # Units and ranges
///
/// A member of another type or outside of its range counts as missing. Of a key that comes several
/// times the last one counts. Other keys and all parameters are ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestField {
    /// The time that the caller still waits, counted from when the field is read. It is written in
    /// milliseconds, rounded down to a microsecond, and saturates at 999,999,999,999.999 ms.
    pub left: Option<Duration>,
    /// The number of the attempt, from 1. It saturates at [`u32::MAX`].
    pub attempt: u32,
    /// Whether the work may wait or fail before other work.
    pub is_low: bool,
    /// A name of the calling process, of 1 to 16 characters of `a-z`, `A-Z`, `0-9`, `-` and `_`: it asks how many callers
    /// there are.
    pub from: Option<Box<str>>,
    /// The paths of the operations below the receiver that have used up their retries: the first 16.
    pub used: Vec<Box<str>>,
}

/// What an answer says about the retries of its request and below.
///
/// # Units and ranges
///
/// As those of a [`RequestField`].
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct AnswerField {
    /// The delay before a retry, in the form of `left` in a request.
    pub after: Option<Duration>,
    /// Whether a retry cannot help.
    pub is_final: bool,
    /// Whether the request came after its time, and nothing was done for it.
    pub is_expired: bool,
    /// How many processes have asked lately, from 1. It saturates at [`u32::MAX`].
    pub callers: Option<u32>,
    /// The paths of the operations that used up their retries while the request was handled: the
    /// first 16.
    pub used: Vec<Box<str>>,
}

/// What a request without the field says.
impl Default for RequestField {
    fn default() -> Self {
        Self {
            left: None,
            attempt: 1,
            is_low: false,
            from: None,
            used: Vec::new(),
        }
    }
}

impl RequestField {
    /// Returns what the field of a request says; the default where it is missing or malformed.
    pub fn read(headers: &HeaderMap) -> Self {
        Self::find(headers).unwrap_or_default()
    }

    /// Returns the same; `None` where the field is missing.
    pub fn find(headers: &HeaderMap) -> Option<Self> {
        find(headers, Self::parse)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut field = Self::default();
        field.used = members(bytes, |key, value| match key {
            b"left" => field.left = duration(value),
            b"attempt" => field.attempt = ordinal(value).unwrap_or(1),
            b"priority" => field.is_low = value == Value::Token(b"low"),
            b"from" => field.from = part(value).map(Box::from),
            _ => {}
        })?;
        Some(field)
    }

    /// Writes the field, in place of one that `headers` already has. A shorter time of that one
    /// stays.
    ///
    /// A first attempt without a deadline says `attempt=1`, so that its receiver knows that the answer
    /// is read. Names that are not paths, or that a receiver would not read any more, are left out.
    pub fn write(&self, headers: &mut HeaderMap) {
        const FIRST: HeaderValue = HeaderValue::from_static("attempt=1");
        let before = Self::read(headers).left;
        let mut members = Members::default();
        if let Some(left) = self.left.into_iter().chain(before).min() {
            members.push("left=");
            members.push_time(left);
        }
        if self.attempt > 1 {
            members.push("attempt=");
            members.push_number(self.attempt.into());
        }
        if self.is_low {
            members.push("priority=low");
        }
        if let Some(from) = self.from.as_deref().filter(|from| is_part(from)) {
            members.push("from=\"");
            members.0.push_str(from);
            members.0.push('"');
        }
        members.push_used(&self.used);
        members.write_or(Some(FIRST), headers);
    }
}

impl AnswerField {
    /// Returns what the field of an answer says; the default where it is missing or malformed.
    pub fn read(headers: &HeaderMap) -> Self {
        find(headers, Self::parse).unwrap_or_default()
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut field = Self::default();
        field.used = members(bytes, |key, value| match key {
            b"after" => field.after = duration(value),
            b"final" => field.is_final = value == Value::Boolean(true),
            b"expired" => field.is_expired = value == Value::Boolean(true),
            b"callers" => field.callers = ordinal(value),
            _ => {}
        })?;
        Some(field)
    }

    /// Writes the field, in place of one that `headers` already has.
    ///
    /// A field with nothing to say is not written, and the one that is there stays. Names that are not paths, or that a receiver
    /// would not read any more, are left out.
    pub fn write(&self, headers: &mut HeaderMap) {
        if *self == Self::default() {
            return;
        }
        let mut members = Members::default();
        if let Some(after) = self.after {
            members.push("after=");
            members.push_time(after);
        }
        if self.is_final {
            members.push("final");
        }
        if self.is_expired {
            members.push("expired");
        }
        if let Some(callers) = self.callers {
            members.push("callers=");
            members.push_number(callers.max(1).into());
        }
        members.push_used(&self.used);
        members.write_or(None, headers);
    }
}

/// Returns what `parse` makes of all lines of the field, and the default where that is malformed; `None` where it is
/// missing.
fn find<T: Default>(headers: &HeaderMap, parse: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
    // A constant would be made and dropped at each call.
    static NAME: HeaderName = RETRY_CONTEXT;
    // Most have none. Few names are looked through sooner than one is hashed.
    let is_it = |name: &HeaderName| name.as_str().len() == NAME.as_str().len() && *name == NAME;
    if headers.keys_len() <= FEW && !headers.keys().any(is_it) {
        return None;
    }
    let first = headers.get(&NAME)?;
    let all = headers.get_all(&NAME);
    let field = match all.iter().nth(1) {
        Some(_) => parse_joined(&all, parse),
        None if first.len() <= MAX_BYTES => parse(first.as_bytes()),
        None => None,
    };
    Some(field.unwrap_or_default())
}

#[cold]
fn parse_joined<T>(
    lines: &GetAll<'_, HeaderValue>,
    parse: impl FnOnce(&[u8]) -> Option<T>,
) -> Option<T> {
    let mut buffer = [0; MAX_BYTES];
    let mut room = buffer.as_mut_slice();
    for (number, line) in lines.iter().enumerate() {
        if number > 0 {
            room.write_all(b",").ok()?;
        }
        room.write_all(line.as_bytes()).ok()?;
    }
    let length = MAX_BYTES.checked_sub(room.len())?;
    parse(buffer.get(..length)?)
}

fn duration(value: Value<'_>) -> Option<Duration> {
    let micros = match value {
        Value::Integer(millis) => millis.checked_mul(1_000)?,
        Value::Decimal(micros) => micros,
        _ => return None,
    };
    u64::try_from(micros).ok().map(Duration::from_micros)
}

fn ordinal(value: Value<'_>) -> Option<u32> {
    match value {
        Value::Integer(number) if number > 0 => Some(u32::try_from(number).unwrap_or(u32::MAX)),
        _ => None,
    }
}

/// Calls `member` with each key but `used` and its value, and returns the names of that.
///
/// Returns `None` where `bytes` is not a Dictionary.
fn members<'a>(
    bytes: &'a [u8],
    mut member: impl FnMut(&'a [u8], Value<'a>),
) -> Option<Vec<Box<str>>> {
    let mut reader = Reader::new(bytes);
    let mut used = [""; MAX_NAMES];
    let mut count = 0;
    while !reader.is_at_end() {
        let key = reader.key()?;
        if key != b"used" {
            member(key, reader.value(|_| {})?);
            continue;
        }
        let (mut is_valid, mut room) = (true, used.iter_mut());
        let value = reader.value(|item| match path(item) {
            Some(path) => {
                let _ = room.next().map(|name| *name = path);
            }
            None => is_valid = false,
        })?;
        is_valid &= value == Value::InnerList;
        let left = room.len();
        count = if is_valid {
            MAX_NAMES.saturating_sub(left)
        } else {
            0
        };
    }
    Some(
        used.iter()
            .take(count)
            .map(|name| Box::from(*name))
            .collect(),
    )
}

fn path(item: Value<'_>) -> Option<&str> {
    match item {
        Value::String(text) if is_path(text) => str::from_utf8(text).ok(),
        _ => None,
    }
}

/// Returns a path of one part.
fn part(item: Value<'_>) -> Option<&str> {
    path(item).filter(|path| is_part(path))
}

fn is_part(path: &str) -> bool {
    is_path(path.as_bytes()) && !path.contains('.')
}

/// Whether a name is one to eight parts, joined by dots, of 1 to 16 characters each.
fn is_path(name: &[u8]) -> bool {
    let (mut dots, mut length) = (0_usize, 0_usize);
    for byte in name {
        length = length.wrapping_add(1);
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') {
            if length > 16 {
                return false;
            }
        } else if *byte == b'.' && length > 1 {
            (dots, length) = (dots.wrapping_add(1), 0);
        } else {
            return false;
        }
    }
    length > 0 && dots < 8
}

/// The text of a field.
#[derive(Default)]
struct Members(String);

impl Members {
    fn push(&mut self, member: &str) {
        if self.0.is_empty() {
            // Enough for all but names.
            self.0.reserve(64);
        } else {
            self.0.push_str(", ");
        }
        self.0.push_str(member);
    }

    fn push_number(&mut self, number: u64) {
        if number > 9 {
            self.push_number(number / 10);
        }
        // Always a digit.
        let digit = u8::try_from(number % 10).unwrap_or(0);
        self.0.push(char::from(b'0'.wrapping_add(digit)));
    }

    /// Appends milliseconds, rounded down to a microsecond: as Integer, or as Decimal where that is
    /// not whole.
    fn push_time(&mut self, time: Duration) {
        let micros = u64::try_from(time.as_micros())
            .unwrap_or(u64::MAX)
            .min(MAX_MICROS);
        self.push_number(micros / 1_000);
        let mut fraction = micros % 1_000;
        if fraction > 0 {
            self.0.push('.');
        }
        while fraction > 0 {
            fraction = fraction.wrapping_mul(10);
            self.push_number(fraction / 1_000);
            fraction %= 1_000;
        }
    }

    /// Appends `used`, the last member, with the names for which the field has room.
    fn push_used(&mut self, names: &[Box<str>]) {
        let paths = names.iter().filter(|name| is_path(name.as_bytes()));
        let mut paths = paths.take(MAX_NAMES).peekable();
        if paths.peek().is_none() {
            return;
        }
        self.push("used=(");
        for (number, path) in paths.enumerate() {
            // A blank, two quotes and the end of the list.
            if self.0.len().saturating_add(path.len()) > MAX_BYTES.saturating_sub(4) {
                break;
            }
            self.0.push_str(if number == 0 { "\"" } else { " \"" });
            self.0.push_str(path);
            self.0.push('"');
        }
        self.0.push(')');
    }

    /// Writes the members, and `or` where there are none.
    fn write_or(self, or: Option<HeaderValue>, headers: &mut HeaderMap) {
        let value = if self.0.is_empty() {
            or
        } else {
            HeaderValue::try_from(self.0).ok()
        };
        if let Some(value) = value {
            // It fails only where the map is full, with more headers than any server takes.
            let _ = headers.try_insert(RETRY_CONTEXT, value);
        }
    }
}
