//! The history of a task as one line of JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::client::{Client, Progress, SubmitError};
use crate::identity::Identity;
use crate::store::Salt;
use crate::task::{Direction, Fence, NewTask, Origin, Record, RecordKind, State, Task, TaskId};
use crate::time::Time;

/// A text of JSON, kept as it is written.
type Json = Box<RawValue>;

/// The history of a task: what a replay needs of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct History {
    task: i64,
    workflow: String,
    version: i32,
    key: String,
    state: String,
    input: Json,
    output: Option<Json>,
    headers: Option<Json>,
    created_at: i64,
    /// Which generation it is: the records are those of this one.
    #[serde(default)]
    generation: i32,
    #[serde(default)]
    continued_at: Option<i64>,
    /// Which records are copies, if it is a fork.
    #[serde(default)]
    origin: Option<Origin>,
    /// The name of the work: the keys of its steps come from it.
    identity: String,
    /// Where its random numbers begin.
    random: u64,
    records: Vec<Line>,
}

/// One record.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Line {
    seq: i32,
    kind: String,
    ord: i32,
    name: String,
    attempts: i32,
    result: Option<Json>,
    error: Option<String>,
    due_at: Option<i64>,
    at: i64,
    args_hash: Option<String>,
    args: Option<Json>,
    undo: Option<String>,
}

/// Reads the history of a task from the store of a client.
///
/// # Errors
///
/// Fails if there is no such task, if it is [pruned](State::Pruned), if its arguments or results are not JSON,
/// or if the store has an error.
pub async fn export(client: &Client, task: TaskId) -> Result<History, SubmitError> {
    let Progress { task, history, .. } = client.task::<()>(task).progress().await?;
    if task.state == State::Pruned {
        return Err(SubmitError::NotAllowed(task.id, task.state));
    }
    History::new(task, history, client.store().salt()).map_err(SubmitError::Json)
}

fn json(text: Option<String>) -> serde_json::Result<Option<Json>> {
    text.map(RawValue::from_string).transpose()
}

impl History {
    fn new(task: Task, history: Vec<Record>, salt: Salt) -> serde_json::Result<Self> {
        let line = |record: Record| {
            Ok(Line {
                seq: record.seq,
                kind: record.kind.as_str().to_owned(),
                ord: record.ord,
                name: record.name,
                attempts: record.attempts,
                result: json(record.result)?,
                error: record.error,
                due_at: record.due_at.map(Time::as_micros),
                at: record.at.as_micros(),
                args_hash: record.args_hash,
                args: json(record.args)?,
                undo: record.undo,
            })
        };
        let identity = Identity::of(&task, salt);
        Ok(Self {
            task: task.id.0,
            workflow: task.workflow,
            version: task.version,
            key: task.key,
            state: task.state.as_str().to_owned(),
            input: RawValue::from_string(task.input)?,
            output: json(task.output)?,
            headers: json(task.headers)?,
            created_at: task.created_at.as_micros(),
            generation: task.generation,
            continued_at: task.continued_at.map(Time::as_micros),
            origin: task.origin,
            identity: identity.to_string(),
            random: identity.seed(),
            records: history.into_iter().map(line).collect::<Result<_, _>>()?,
        })
    }

    /// Returns the number of the task.
    pub const fn task(&self) -> TaskId {
        TaskId(self.task)
    }

    /// Returns the name of its workflow.
    pub fn workflow(&self) -> &str {
        &self.workflow
    }

    /// Returns the version of its workflow.
    pub const fn version(&self) -> i32 {
        self.version
    }

    /// Hides values in arguments, results, signals and headers: those of fields with one of these
    /// names, at any depth, and the arguments of the workflow with one of these numbers, from 0.
    /// Strings become `"redacted"`, wherever else they occur, also as names of fields, and numbers 0;
    /// `null`, `true` and `false` stay. The key of the task and the texts of errors are hidden, too, and
    /// its identity becomes another name, from which the keys of its steps cannot be computed.
    ///
    /// The hashes of arguments go with them, so a replay cannot find other arguments.
    ///
    /// # Errors
    ///
    /// Fails if a value is not JSON.
    pub fn redact(&mut self, fields: &[String]) -> serde_json::Result<()> {
        let mut hidden = Hidden::default();
        let input = |value: &mut Node, hidden: &mut Hidden| {
            if let Node::Array(arguments) = value {
                for (nth, argument) in arguments.iter_mut().enumerate() {
                    if fields.contains(&nth.to_string()) {
                        hidden.hide(argument);
                    }
                }
            }
        };
        change(&mut self.input, |value| input(value, &mut hidden))?;
        self.change_all(|value| hidden.hide_fields(value, fields))?;
        self.change_all(|value| hidden.hide_known(value))?;
        "redacted".clone_into(&mut self.key);
        if let Some(identity) = self.identity() {
            self.identity = identity.pseudonym().to_string();
        }
        for line in &mut self.records {
            line.args_hash = None;
            line.error = line.error.take().map(|_| "redacted".to_owned());
        }
        Ok(())
    }

    /// Changes all values of JSON.
    fn change_all(&mut self, mut with: impl FnMut(&mut Node)) -> serde_json::Result<()> {
        let values = [&mut self.output, &mut self.headers];
        let records = self.records.iter_mut();
        let recorded = records.flat_map(|line| [&mut line.result, &mut line.args]);
        let optional = values.into_iter().chain(recorded).flatten();
        for text in std::iter::once(&mut self.input).chain(optional) {
            change(text, &mut with)?;
        }
        Ok(())
    }

    /// Returns the state of the task when it was exported.
    pub(super) fn state(&self) -> Option<State> {
        self.state.parse().ok()
    }

    /// Returns the recorded result of the workflow.
    pub(super) fn output(&self) -> Option<&str> {
        self.output.as_ref().map(|output| output.get())
    }

    /// Returns the identity of the task, if it can be read.
    pub(super) fn identity(&self) -> Option<Identity> {
        Identity::exported(&self.identity, self.random)
    }

    /// Returns the task as a worker in this direction would hold it.
    pub(super) fn to_task(&self, direction: Direction) -> Task {
        let at = Time::from_micros(self.created_at);
        let new = NewTask {
            version: self.version,
            headers: self.headers.as_ref().map(|text| text.get().to_owned()),
            ..NewTask::new(&self.workflow, &*self.key, self.input.get())
        };
        Task {
            state: State::Processing,
            direction,
            generation: self.generation,
            continued_at: self.continued_at.map(Time::from_micros),
            origin: self.origin.clone(),
            ..Task::new(self.task(), new, at)
        }
    }

    /// Returns the records of what the task did forward.
    pub(super) fn to_records(&self) -> Vec<Record> {
        let records = self.records.iter().filter_map(Line::to_record);
        let records = records.filter(|record| record.kind != RecordKind::Undone);
        records.collect()
    }
}

impl Line {
    fn to_record(&self) -> Option<Record> {
        let kinds = (0..=3).filter_map(RecordKind::from_number);
        let kind = kinds.into_iter().find(|kind| kind.as_str() == self.kind)?;
        let text = |json: &Option<Json>| json.as_ref().map(|json| json.get().to_owned());
        Some(Record {
            seq: self.seq,
            kind,
            ord: self.ord,
            name: self.name.clone(),
            attempts: self.attempts,
            result: text(&self.result),
            error: self.error.clone(),
            due_at: self.due_at.map(Time::from_micros),
            at: Time::from_micros(self.at),
            fence: Fence::default(),
            args_hash: self.args_hash.clone(),
            args: text(&self.args),
            undo: self.undo.clone(),
        })
    }
}

/// Changes a value, and writes it again.
fn change(text: &mut Json, with: impl FnOnce(&mut Node)) -> serde_json::Result<()> {
    let mut value = Node::read(text.get())?;
    with(&mut value);
    *text = serde_json::value::to_raw_value(&value)?;
    Ok(())
}

/// JSON whose numbers stay as they are written: they may have more than 64 bits.
#[derive(Serialize)]
#[serde(untagged)]
enum Node {
    Object(BTreeMap<String, Self>),
    Array(Vec<Self>),
    Text(String),
    /// A number, `null`, `true` or `false`.
    Other(Json),
    /// A number that is hidden.
    Zero(u8),
}

impl Node {
    fn read(text: &str) -> serde_json::Result<Self> {
        Ok(match text.as_bytes().first() {
            Some(b'{') => {
                let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
                let fields = fields.into_iter();
                let fields = fields.map(|(name, value)| Ok((name, Self::read(value.get())?)));
                Self::Object(fields.collect::<serde_json::Result<_>>()?)
            }
            Some(b'[') => {
                let values: Vec<&RawValue> = serde_json::from_str(text)?;
                let values = values.iter().map(|value| Self::read(value.get()));
                Self::Array(values.collect::<serde_json::Result<_>>()?)
            }
            Some(b'"') => Self::Text(serde_json::from_str(text)?),
            _ => Self::Other(serde_json::from_str(text)?),
        })
    }
}

/// The strings that are hidden: they may occur in other places, too.
#[derive(Default)]
struct Hidden(Vec<String>);

impl Hidden {
    fn hide_fields(&mut self, value: &mut Node, fields: &[String]) {
        match value {
            Node::Object(object) => {
                for (name, value) in object {
                    if fields.contains(name) {
                        self.hide(value);
                    } else {
                        self.hide_fields(value, fields);
                    }
                }
            }
            Node::Array(values) => {
                for value in values {
                    self.hide_fields(value, fields);
                }
            }
            _ => {}
        }
    }

    /// Hides a value and everything in it.
    fn hide(&mut self, value: &mut Node) {
        match value {
            Node::Text(text) => {
                let old = std::mem::replace(text, "redacted".to_owned());
                // A shorter one is in many words.
                if old.len() > 2 && old != *text {
                    self.0.push(old);
                }
            }
            Node::Other(json) if json.get().starts_with(|c| matches!(c, '-' | '0'..='9')) => {
                *value = Node::Zero(0);
            }
            Node::Array(values) => values.iter_mut().for_each(|value| self.hide(value)),
            Node::Object(object) => object.values_mut().for_each(|value| self.hide(value)),
            Node::Other(_) | Node::Zero(_) => {}
        }
    }

    /// Hides every string that has a hidden one in it.
    fn hide_known(&self, value: &mut Node) {
        match value {
            Node::Text(text) if self.is_in(text) => {
                "redacted".clone_into(text);
            }
            Node::Array(values) => values.iter_mut().for_each(|value| self.hide_known(value)),
            Node::Object(object) => {
                let old = std::mem::take(object);
                for (nth, (mut name, mut value)) in old.into_iter().enumerate() {
                    if self.is_in(&name) {
                        // Two of them stay two.
                        name = format!("redacted {nth}");
                    }
                    self.hide_known(&mut value);
                    object.insert(name, value);
                }
            }
            _ => {}
        }
    }

    fn is_in(&self, text: &str) -> bool {
        self.0.iter().any(|hidden| text.contains(hidden))
    }
}
