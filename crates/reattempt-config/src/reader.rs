//! Reads values and tables, and collects what is wrong with them.

use figment::value::{Dict, Num, Tag, Value};
use reattempt_policy::written::{ParseError, Whole, Word, Written};
use retry_runtime::rules::RuleId;

use super::diagnostic::Diagnostic;
use super::file::Places;
use super::{span, variable};

/// Where the reading is, and what it has found wrong.
pub(super) struct Reader<'a> {
    pub(super) places: Places<'a>,
    pub(super) faults: Vec<Diagnostic>,
    /// The key that is read.
    pub(super) path: Vec<String>,
}

impl Reader<'_> {
    /// A fault of the key that is read.
    pub(super) fn fault(&mut self, tag: Tag, rule: RuleId, message: impl Into<String>) {
        let place = self.places.of(&self.path, tag);
        let fault = Diagnostic::new(place, span::shown(&self.path), rule, message);
        self.faults.push(fault);
    }

    /// Reads the key `key` of the table that is read.
    pub(super) fn within<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(key.to_owned());
        let value = read(self);
        self.path.pop();
        value
    }

    /// The keys of a table.
    pub(super) fn table<'v>(&mut self, value: &'v Value, example: &str) -> Option<&'v Dict> {
        match value {
            Value::Dict(_, table) if !is_date(value) => Some(table),
            _ => {
                let message = match self.places.variable(value) {
                    Some(_) => {
                        let fix = variable::below(&self.path, value);
                        format!(
                            "expected a table, and a variable sets one key of it; write `{fix}`"
                        )
                    }
                    None => format!("expected a table; write `{example}` and its keys below it"),
                };
                self.fault(value.tag(), RuleId::Type, message);
                None
            }
        }
    }

    /// A value, or a fault that says what is wrong with it.
    pub(super) fn take<T: Word>(&mut self, value: &Value) -> Option<T> {
        self.sound(value.tag(), read::<T>(value))
    }

    /// What was read, or a fault.
    pub(super) fn sound<T>(&mut self, tag: Tag, read: Result<T, ParseError>) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(wrong) => {
                self.fault(tag, wrong.rule, wrong.message);
                None
            }
        }
    }
}

/// Reads a value in the words that attributes have, too.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method is not for every lifetime"
)]
pub(super) fn read<T: Word>(value: &Value) -> Result<T, ParseError> {
    written(value, |it| it.in_file())
}

/// Calls `read` with a value as it is written.
pub(super) fn written<T>(value: &Value, read: impl FnOnce(Written<'_>) -> T) -> T {
    let digits;
    let mut char = [0; 4];
    read(match value {
        Value::String(_, text) => Written::Text(text),
        Value::Char(_, text) => Written::Text(text.encode_utf8(&mut char)),
        Value::Bool(_, value) => Written::Flag(*value),
        Value::Num(_, number) => match number.to_u128_lossy() {
            Some(whole) => {
                digits = whole.to_string();
                Written::Whole(Whole {
                    written: &digits,
                    digits: &digits,
                    suffix: "",
                })
            }
            None => Written::Number(float(*number)),
        },
        Value::Empty(..) | Value::Dict(..) | Value::Array(..) => Written::Other,
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "below 0, where the message is all that is made of it"
)]
fn float(number: Num) -> f64 {
    let whole = number.to_i128().map(|whole| whole as f64);
    whole.or_else(|| number.to_f64()).unwrap_or(f64::NAN)
}

/// Toml hands dates over as tables of one key.
fn is_date(value: &Value) -> bool {
    matches!(value, Value::Dict(_, table) if table.contains_key("$__toml_private_datetime"))
}
