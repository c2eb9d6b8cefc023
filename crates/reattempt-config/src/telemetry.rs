//! What is reported of the calls of a policy: a word, or a table.

use figment::value::Value;

use super::reader::{Reader, read};
use reattempt_policy::written as parse;
use retry_runtime::rules::RuleId;
use retry_runtime::{Level, Telemetry};

/// The settings of telemetry. `retry` is that of every retry and gives way to `first_retry`.
pub(super) const TELEMETRY: &[&str] = &[
    "retry",
    "first_retry",
    "give_up",
    "recovery",
    "timings",
    "spans",
    "give_up_interval",
];

impl Reader<'_> {
    pub(super) fn telemetry(&mut self, value: &Value) -> Option<Telemetry> {
        let Value::Dict(..) = value else {
            return self.take(value);
        };
        let table = self.table(value, "telemetry = { give_up = \"error\" }")?;
        let known = self.faults.len();
        for (key, value) in table {
            if !TELEMETRY.contains(&&**key) {
                let message = parse::unknown(key, None, TELEMETRY);
                self.within(key, |this| this.fault(value.tag(), RuleId::R15, message));
            }
        }
        let mut telemetry = Telemetry::new();
        for key in TELEMETRY {
            if let Some(value) = table.get(*key) {
                let set = self.within(key, |this| this.telemetry_setting(key, value, telemetry));
                telemetry = set.unwrap_or(telemetry);
            }
        }
        (self.faults.len() == known).then_some(telemetry)
    }

    fn telemetry_setting(
        &mut self,
        key: &str,
        value: &Value,
        telemetry: Telemetry,
    ) -> Option<Telemetry> {
        Some(match key {
            "retry" => telemetry.retry(self.level(key, value)?),
            "first_retry" => telemetry.first_retry(self.level(key, value)?),
            "give_up" => telemetry.give_up(self.level(key, value)?),
            "recovery" => telemetry.recovery(self.level(key, value)?),
            "timings" if self.take(value)? => telemetry.timings(),
            "spans" if self.take(value)? => telemetry.spans(),
            "give_up_interval" => telemetry.give_up_interval(self.take(value)?),
            _ => telemetry,
        })
    }

    /// The level of an event, in whose messages the setting has its own name.
    fn level(&mut self, key: &str, value: &Value) -> Option<Level> {
        let read = read::<Level>(value).map_err(|mut wrong| {
            wrong.message = (wrong.message)
                .replace("`level`", &format!("`{key}`"))
                .replace("write `\"info\"`", &format!("write `{key} = \"info\"`"));
            wrong
        });
        self.sound(value.tag(), read)
    }
}
