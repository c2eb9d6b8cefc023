//! What errors of a status or a code mean: a table.

use std::sync::{Mutex, PoisonError};

use figment::value::Value;

use super::reader::{Reader, read};
use reattempt_policy::Codes;
use reattempt_policy::written::{self as parse, CODE_SETTINGS as SETTINGS, CodeRow};
use retry_runtime::rules::RuleId;

impl Reader<'_> {
    pub(super) fn codes(&mut self, value: &Value) -> Option<Codes> {
        let Value::Dict(..) = value else {
            return self.take(value);
        };
        let table = self.table(value, "codes = { 503 = \"throttled\" }")?;
        let known = self.faults.len();
        let rows = table
            .iter()
            .filter_map(|(code, value)| self.within(code, |this| this.code(code, value)));
        let rows: Vec<_> = rows.collect();
        (self.faults.len() == known).then(|| kept(rows))
    }

    fn code(&mut self, code: &str, value: &Value) -> Option<CodeRow> {
        let Value::Dict(_, table) = value else {
            let meaning = self.take(value)?;
            return self.sound(value.tag(), CodeRow::new(code, meaning, None));
        };
        let strange: Vec<_> = (table.iter())
            .filter(|(key, _)| !SETTINGS.contains(&&***key))
            .collect();
        for (key, value) in &strange {
            let message = parse::unknown(key, None, SETTINGS);
            self.within(key, |this| this.fault(value.tag(), RuleId::R15, message));
        }
        let verdict = match table.get("verdict") {
            Some(verdict) => self.within("verdict", |this| this.take(verdict)),
            None => self.sound(value.tag(), Err(parse::no_verdict(code))),
        };
        let base = table
            .get("base")
            .map(|base| self.within("base", |this| this.sound(base.tag(), read(base))));
        let base = base.map_or(Some(None), |base| base.map(Some))?;
        if !strange.is_empty() {
            return None;
        }
        self.sound(value.tag(), CodeRow::new(code, verdict?, base))
    }
}

/// Returns the table of these rows. One that was read before is the same, so that a file that is read again and again takes no
/// more memory.
fn kept(rows: Vec<CodeRow>) -> Codes {
    static TABLES: Mutex<Vec<Codes>> = Mutex::new(Vec::new());

    let mut tables = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    let is_table = |table: &&Codes| {
        let old = table.rows();
        old.len() == rows.len() && rows.iter().zip(old).all(|(new, old)| new.is(old))
    };
    if let Some(table) = tables.iter().find(is_table) {
        return *table;
    }
    let table = Codes::leak(rows);
    tables.push(table);
    table
}
