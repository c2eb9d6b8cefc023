//! What is reported of the calls of a policy: a word, or a table.

use figment::value::Value;

use super::reader::{Reader, written};
use reattempt_policy::Telemetry;
use reattempt_policy::written::{self as parse, TELEMETRY_SETTINGS as SETTINGS};
use retry_runtime::rules::RuleId;

impl Reader<'_> {
    pub(super) fn telemetry(&mut self, value: &Value) -> Option<Telemetry> {
        let Value::Dict(..) = value else {
            return self.take(value);
        };
        let table = self.table(value, "telemetry = { give_up = \"error\" }")?;
        let known = self.faults.len();
        for (key, value) in table {
            if !SETTINGS.contains(&&**key) {
                let message = parse::unknown(key, None, SETTINGS);
                self.within(key, |this| this.fault(value.tag(), RuleId::R15, message));
            }
        }
        let mut telemetry = Telemetry::new();
        for key in SETTINGS {
            if let Some(value) = table.get(*key) {
                let set = written(value, |it| parse::telemetry_setting(key, it, telemetry));
                let set = self.within(key, |this| this.sound(value.tag(), set));
                telemetry = set.unwrap_or(telemetry);
            }
        }
        (self.faults.len() == known).then_some(telemetry)
    }
}
