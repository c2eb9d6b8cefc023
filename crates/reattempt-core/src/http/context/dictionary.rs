//! Reads Dictionaries of RFC 9651, "Structured Field Values for HTTP". The field decides what a
//! value means.

/// The value of a member, or an item of an Inner List.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'a> {
    Integer(i64),
    /// In thousandths.
    Decimal(i64),
    /// As it stands between the quotes: with its escapes.
    String(&'a [u8]),
    Token(&'a [u8]),
    Boolean(bool),
    InnerList,
    /// A Byte Sequence, a Date or a Display String, which no field here has.
    Other,
}

/// A Dictionary that is read from its first member to its last, each as a key and a value.
///
/// A key may come several times, and the last one counts. Parameters are read and dropped. Each
/// method takes off what it reads, and returns `None` where something else comes: then the whole is
/// not a Dictionary.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let mut reader = Self { rest: bytes };
        reader.spaces();
        reader
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn key(&mut self) -> Option<&'a [u8]> {
        let first = self.rest.first()?;
        (first.is_ascii_lowercase() || *first == b'*').then(|| self.run(KEY))
    }

    /// Returns the value of a member, and calls `item` with each item of an Inner List.
    pub(super) fn value(&mut self, item: impl FnMut(Value<'a>)) -> Option<Value<'a>> {
        let value = if !self.take(b'=') {
            Value::Boolean(true)
        } else if self.take(b'(') {
            self.inner_list(item)?;
            Value::InnerList
        } else {
            self.bare_item()?
        };
        self.parameters()?;
        self.blanks();
        if !self.is_at_end() {
            self.expect(b',')?;
            self.blanks();
            // Behind a comma comes a member.
            self.rest.first()?;
        }
        Some(value)
    }

    fn take(&mut self, byte: u8) -> bool {
        match self.rest {
            [first, rest @ ..] if *first == byte => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    /// Takes off the bytes up to the first one that is not of `class`.
    fn run(&mut self, class: u8) -> &'a [u8] {
        let is_end = |byte: &u8| {
            CLASSES
                .get(usize::from(*byte))
                .is_none_or(|of| of & class == 0)
        };
        let end = self.rest.iter().position(is_end);
        let parts = self.rest.split_at_checked(end.unwrap_or(self.rest.len()));
        let (run, rest) = parts.unwrap_or_default();
        self.rest = rest;
        run
    }

    fn spaces(&mut self) {
        while self.take(b' ') {}
    }

    fn blanks(&mut self) {
        while let [b' ' | b'\t', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    fn parameters(&mut self) -> Option<()> {
        while self.take(b';') {
            self.spaces();
            self.key()?;
            if self.take(b'=') {
                self.bare_item()?;
            }
        }
        Some(())
    }

    /// Reads an Inner List from behind its `(`.
    fn inner_list(&mut self, mut item: impl FnMut(Value<'a>)) -> Option<()> {
        loop {
            self.spaces();
            if self.take(b')') {
                return Some(());
            }
            let value = self.bare_item()?;
            self.parameters()?;
            item(value);
            if !matches!(self.rest.first()?, b' ' | b')') {
                return None;
            }
        }
    }

    fn bare_item(&mut self) -> Option<Value<'a>> {
        match self.rest.first()? {
            b'0'..=b'9' | b'-' => self.number(),
            b'"' => self.string(),
            b'A'..=b'Z' | b'a'..=b'z' | b'*' => Some(Value::Token(self.run(TOKEN))),
            b'?' => self.boolean(),
            b':' => self.byte_sequence(),
            b'@' => self.date(),
            b'%' => self.display_string(),
            _ => None,
        }
    }

    fn number(&mut self) -> Option<Value<'a>> {
        let is_negative = self.take(b'-');
        let signed = |number: i64| {
            if is_negative {
                number.wrapping_neg()
            } else {
                number
            }
        };
        let (whole, length) = self.digits(0);
        if !self.take(b'.') {
            return (1..=15)
                .contains(&length)
                .then_some(Value::Integer(signed(whole)));
        }
        let (number, decimals) = self.digits(whole);
        let thousandths = match decimals {
            1 => number.wrapping_mul(100),
            2 => number.wrapping_mul(10),
            3 => number,
            _ => return None,
        };
        (1..=12)
            .contains(&length)
            .then_some(Value::Decimal(signed(thousandths)))
    }

    /// Appends the digits that come to `number`, and returns how many there are. Above 15 in all it
    /// may wrap.
    fn digits(&mut self, mut number: i64) -> (i64, usize) {
        let all = self.rest;
        while let [digit @ b'0'..=b'9', rest @ ..] = self.rest {
            let digit = i64::from(digit.wrapping_sub(b'0'));
            number = number.wrapping_mul(10).wrapping_add(digit);
            self.rest = rest;
        }
        (number, all.len().saturating_sub(self.rest.len()))
    }

    fn string(&mut self) -> Option<Value<'a>> {
        self.expect(b'"')?;
        let start = self.rest;
        loop {
            self.run(STRING);
            if self.rest.first() == Some(&b'"') {
                let length = start.len().checked_sub(self.rest.len())?;
                self.take(b'"');
                return Some(Value::String(start.get(..length)?));
            }
            self.expect(b'\\')?;
            if !self.take(b'"') {
                self.expect(b'\\')?;
            }
        }
    }

    fn boolean(&mut self) -> Option<Value<'a>> {
        self.expect(b'?')?;
        let is_true = self.take(b'1');
        if !is_true {
            self.expect(b'0')?;
        }
        Some(Value::Boolean(is_true))
    }

    /// Reads a Byte Sequence. Its padding may be missing, and bits behind its last byte may be set:
    /// section 4.2.7 of the RFC recommends both.
    fn byte_sequence(&mut self) -> Option<Value<'a>> {
        self.expect(b':')?;
        let digits = self.run(BASE64);
        let padding = match digits.len() % 4 {
            0 => 0,
            2 => 2,
            3 => 1,
            _ => return None,
        };
        for _ in 0..padding {
            self.take(b'=');
        }
        self.expect(b':')?;
        Some(Value::Other)
    }

    fn date(&mut self) -> Option<Value<'a>> {
        self.expect(b'@')?;
        let number = self.number()?;
        matches!(number, Value::Integer(_)).then_some(Value::Other)
    }

    fn display_string(&mut self) -> Option<Value<'a>> {
        self.expect(b'%')?;
        self.expect(b'"')?;
        loop {
            self.run(DISPLAY_STRING);
            if self.take(b'"') {
                return Some(Value::Other);
            }
            self.encoded_char()?;
        }
    }

    /// Reads a character of UTF-8 whose bytes are written as `%` and two digits each.
    fn encoded_char(&mut self) -> Option<()> {
        let mut bytes = [0; 4];
        for length in 1..=bytes.len() {
            self.expect(b'%')?;
            let (digits, rest) = self.rest.split_at_checked(2)?;
            let byte = digits.iter().try_fold(0, |byte: u8, digit| {
                let is_lower = !digit.is_ascii_uppercase();
                let digit = is_lower.then(|| char::from(*digit).to_digit(16))??;
                Some(byte << 4 | u8::try_from(digit).ok()?)
            })?;
            self.rest = rest;
            *bytes.get_mut(length.checked_sub(1)?)? = byte;
            match str::from_utf8(bytes.get(..length)?) {
                Ok(_) => return Some(()),
                // What is there can be the start of a character.
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return None,
            }
        }
        None
    }
}

const KEY: u8 = 1;
const TOKEN: u8 = 2;
/// What stands for itself in a String.
const STRING: u8 = 4;
/// What stands for itself in a Display String.
const DISPLAY_STRING: u8 = 8;
const BASE64: u8 = 16;

/// The classes of each byte.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let (mut byte, mut rest) = (0_u8, classes.as_mut_slice());
    while let [bits, tail @ ..] = rest {
        if matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'*') {
            *bits |= KEY;
        }
        if byte.is_ascii_alphanumeric()
            || matches!(byte, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-'..=b':')
            || matches!(byte, b'^'..=b'`' | b'|' | b'~')
        {
            *bits |= TOKEN;
        }
        if matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\') {
            *bits |= STRING;
        }
        if matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'%') {
            *bits |= DISPLAY_STRING;
        }
        if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/') {
            *bits |= BASE64;
        }
        byte = byte.wrapping_add(1);
        rest = tail;
    }
    classes
};
