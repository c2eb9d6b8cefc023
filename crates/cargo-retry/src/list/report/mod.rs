//! What was found, as rows: one for each place, whatever the form.

mod cells;
mod json;
mod narrow;
mod sarif;
mod table;

use reattempt_policy::Values;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::error::Error;
use std::time::Duration;

use clap::ValueEnum;
use retry_runtime::rules::Key;
use serde::Serialize;

use super::count::Count;
use super::nesting::Inner;
use super::policy::Effective;
use super::reading::Fault;
use super::sites::{Site, Survey};
use crate::code::{Place, Unread};

/// The form of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Table,
    /// A line for each place
    Line,
    /// For programs
    Json,
    /// For code review: the form that GitHub and others read (SARIF 2.1.0)
    Sarif,
}

/// The order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// By files and lines
    Place,
    /// Most attempts for one call first
    Load,
    /// Longest call first
    Time,
}

/// The whole list, in the order of files and lines.
#[derive(Serialize)]
pub(crate) struct Listing {
    policies: Vec<Row>,
    /// What could not be read.
    unread: Vec<Missing>,
}

#[derive(Serialize)]
struct Missing {
    file: String,
    line: usize,
    column: usize,
    why: String,
    #[serde(skip)]
    reported: String,
}

/// A place that retries.
#[derive(Serialize)]
struct Row {
    file: String,
    line: usize,
    column: usize,
    form: &'static str,
    operation: String,
    package: String,
    /// `lib`, `bin`, `example`, `test`, `bench`, `build`.
    targets: BTreeSet<&'static str>,
    /// What has to hold for it to be compiled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<String>,
    /// The macro that makes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_macro: Option<String>,
    /// Whether attempts are futures, which a deadline cuts off.
    r#async: bool,
    /// Each key as written.
    written: Vec<Written>,
    /// A policy by name, or another expression that the keys override.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<String>,
    /// Whether the configuration has switched its retries off.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    off: bool,
    /// Whether its policy brings a budget along, which the code does not name.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    brings_budget: bool,
    /// The tokens of the budget of an operation that names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    default_budget: Option<u32>,
    /// What it is called when lines move.
    #[serde(skip)]
    identity: String,
    /// Nothing where even the keys could not be read.
    schedule: Option<Schedule>,
    /// Keys whose value is not known before the program is compiled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<Below>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<Reported>,
}

#[derive(Serialize)]
struct Written {
    key: String,
    value: String,
}

/// What is known of the attempts of one call.
#[derive(Serialize)]
struct Schedule {
    words: Option<String>,
    attempts: Attempts,
    /// How often the body runs for one call: attempts, and the copies of a `hedge`.
    load: Attempts,
    /// Retries for each call that its budget allows, over all calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<f64>,
    /// The first delays: the least and the longest of each.
    delays: Option<Vec<Delay>>,
    /// The longest that all delays take together; without it there is no limit, or it is not known.
    sleeping_ns: Option<u64>,
    /// The longest from the start of the call to that of its last attempt.
    wall_ns: Option<u64>,
    deadline_ns: Option<u64>,
    timeout_ns: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", untagged)]
enum Attempts {
    Known(u64),
    Word(&'static str),
}

#[derive(Serialize)]
struct Delay {
    least_ns: u64,
    longest_ns: u64,
}

/// A retried call that this one makes.
#[derive(Serialize)]
struct Below {
    operation: String,
    #[serde(skip)]
    identity: String,
    file: String,
    line: usize,
    column: usize,
    /// The functions in between.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    through: Vec<String>,
    /// In another task or thread, where nobody knows of the retry around it.
    spawned: bool,
    /// Places in an attempt where it may be called.
    places: Attempts,
    /// In a loop, or the way further below leads through one: the numbers are those of one turn.
    in_loop: bool,
    /// Attempts of the innermost for one call of this one, at most.
    attempts: Attempts,
    /// The same if no retry knew of another.
    multiplied: Attempts,
    recursive: bool,
}

#[derive(Serialize)]
struct Reported {
    rule: &'static str,
    message: String,
    line: usize,
    column: usize,
}

/// Delays that are shown one by one.
const TOLD: u32 = 16;

impl Listing {
    pub(crate) fn new(
        survey: &Survey,
        effective: &[Option<Effective>],
        nested: &[Vec<Inner>],
        packages: &[String],
        unread: &[Unread],
    ) -> Self {
        // A file may be part of several targets.
        let mut rows: HashMap<&Place, Row> = HashMap::new();
        for ((site, effective), inner) in survey.sites.iter().zip(effective).zip(nested) {
            if !packages.is_empty() && !packages.contains(&site.package) {
                continue;
            }
            let row = row(survey, site, effective.as_ref(), inner);
            match rows.get_mut(&site.place) {
                Some(known) => known.join(row),
                None => {
                    rows.insert(&site.place, row);
                }
            }
        }
        let mut policies: Vec<_> = rows.into_values().collect();
        policies.sort_by(|one, other| {
            (&one.file, one.line, one.column).cmp(&(&other.file, other.line, other.column))
        });
        let unread = unread.iter().map(|it| Missing {
            file: it.place.file.shown.clone(),
            line: it.place.line,
            column: it.place.column,
            why: it.why.clone(),
            reported: it.reported(),
        });
        Self {
            policies,
            unread: unread.collect(),
        }
    }

    /// In another order, and no more than the first of them.
    pub(crate) fn ordered(&mut self, order: Order, most: Option<usize>) {
        // What is not known may be any number.
        let load = |row: &Row| match row.schedule.as_ref().map(|it| it.load) {
            Some(Attempts::Known(load)) => load,
            _ => u64::MAX,
        };
        let time = |row: &Row| {
            let schedule = row.schedule.as_ref();
            let known = schedule.and_then(|it| it.wall_ns.or(it.sleeping_ns));
            known.unwrap_or(u64::MAX)
        };
        match order {
            Order::Place => {}
            Order::Load => self.policies.sort_by_key(|row| Reverse(load(row))),
            Order::Time => self.policies.sort_by_key(|row| Reverse(time(row))),
        }
        self.policies.truncate(most.unwrap_or(usize::MAX));
    }

    /// Whether nothing is listed, and something was not read: it may be there.
    pub(crate) fn is_blind(&self) -> bool {
        self.policies.is_empty() && !self.unread.is_empty()
    }

    /// Whether everything was read, and no policy breaks a rule.
    pub(crate) fn is_sound(&self) -> bool {
        self.unread.is_empty() && self.policies.iter().all(|row| row.faults.is_empty())
    }

    pub(crate) fn text(&self, format: Format) -> Result<String, Box<dyn Error>> {
        match format {
            Format::Table => Ok(table::text(self)),
            Format::Line => Ok(cells::lines(self)),
            Format::Json => json::text(self),
            Format::Sarif => sarif::text(self),
        }
    }
}

impl Below {
    /// Whether it is the same in another target.
    fn is_at(&self, other: &Self) -> bool {
        (&self.file, self.line, self.column) == (&other.file, other.line, other.column)
    }

    fn is_in_places(&self) -> bool {
        matches!(self.places, Attempts::Known(2..))
    }

    /// Whether retries inside of retries make fewer attempts than all would.
    fn is_held(&self) -> bool {
        matches!((self.attempts, self.multiplied), (Attempts::Known(count), Attempts::Known(all)) if count < all)
    }
}

impl Row {
    /// The same place in another target.
    fn join(&mut self, other: Self) {
        self.targets.extend(other.targets);
        for below in other.calls {
            if !self.calls.iter().any(|it| it.is_at(&below)) {
                self.calls.push(below);
            }
        }
    }

    /// Whether it may sleep longer than its time says: without a deadline nothing holds what an error asks for.
    fn waits(&self) -> bool {
        let schedule = self.schedule.as_ref();
        schedule.is_some_and(|it| it.deadline_ns.is_none() && it.attempts != Attempts::Known(1))
    }

    fn key(&self, key: &str) -> Option<&str> {
        let found = self.written.iter().find(|written| written.key == key);
        found.map(|written| written.value.as_str())
    }
}

fn row(survey: &Survey, site: &Site, effective: Option<&Effective>, inner: &[Inner]) -> Row {
    let written = site.reading.written.iter().map(|(key, value)| Written {
        key: key.clone(),
        value: value.clone(),
    });
    let policy = effective.and_then(|it| it.label.clone().or_else(|| it.inherited.clone()));
    let mut calls: Vec<Below> = Vec::new();
    for below in inner.iter().filter_map(|inner| below(survey, inner)) {
        if !calls.iter().any(|it| it.is_at(&below)) {
            calls.push(below);
        }
    }
    Row {
        file: site.place.file.shown.clone(),
        line: site.place.line,
        column: site.place.column,
        form: site.form.as_str(),
        operation: site.operation.clone(),
        package: site.package.clone(),
        targets: site.kinds.clone(),
        conditions: site.conditions.clone(),
        by_macro: site.by_macro.clone(),
        r#async: site.reading.is_async,
        written: written.collect(),
        policy: policy.or_else(|| site.reading.key("policy").map(ToOwned::to_owned)),
        off: effective.is_some_and(|it| it.is_off),
        brings_budget: effective.is_some_and(|it| it.budget.is_some()),
        default_budget: effective.and_then(|it| it.default_budget(site)),
        identity: site.identity.clone(),
        schedule: effective.map(schedule),
        unknown: effective.map_or_else(Vec::new, |it| it.unknown().map(Key::as_str).collect()),
        calls,
        faults: faults(site, effective),
    }
}

fn faults(site: &Site, effective: Option<&Effective>) -> Vec<Reported> {
    let of = |fault: &Fault| {
        // A fault of the whole has no token to point at; none can stand where a file begins.
        let is_placed = (fault.place.line, fault.place.column) != (1, 1);
        let place = if is_placed { &fault.place } else { &site.place };
        Reported {
            rule: fault.rule,
            message: fault.message.clone(),
            line: place.line,
            column: place.column,
        }
    };
    let violated = effective.into_iter().flat_map(|it| &it.violations);
    let constant = violated.map(|(rule, message)| Reported {
        rule,
        message: message.clone(),
        line: site.place.line,
        column: site.place.column,
    });
    let all = site.reading.faults.iter().map(of).chain(constant);
    let mut reported: Vec<Reported> = Vec::new();
    for fault in all {
        if !reported.iter().any(|known| known.message == fault.message) {
            reported.push(fault);
        }
    }
    reported
}

fn schedule(effective: &Effective) -> Schedule {
    let policy = &effective.policy;
    let worst = policy.worst_case();
    let Values {
        deadline, timeout, ..
    } = *policy.values();
    let knows_attempts = effective.knows(Key::Max);
    let is_known = knows_attempts && effective.knows_delays();
    let retries = policy
        .attempts()
        .filter(|_| knows_attempts)
        .map_or(u32::MAX, |max| max.saturating_sub(1));
    let delays = (0..retries.min(TOLD)).map(|retry| {
        let (least, longest) = policy.delay_bounds(retry);
        Delay {
            least_ns: nanos(least),
            longest_ns: nanos(longest),
        }
    });
    let limits = is_known && effective.knows(Key::Deadline) && effective.knows(Key::Timeout);
    Schedule {
        words: limits.then(|| policy.explain().to_string()),
        attempts: effective.attempts().into(),
        budget: effective.share,
        load: effective.attempts().times(effective.copies).into(),
        delays: effective.knows_delays().then(|| delays.collect()),
        sleeping_ns: worst.total_delay().filter(|_| limits).map(nanos),
        wall_ns: worst.total_time().filter(|_| limits).map(nanos),
        deadline_ns: deadline
            .filter(|_| effective.knows(Key::Deadline))
            .map(nanos),
        timeout_ns: timeout.filter(|_| effective.knows(Key::Timeout)).map(nanos),
    }
}

fn below(survey: &Survey, inner: &Inner) -> Option<Below> {
    let site = survey.sites.get(inner.site)?;
    Some(Below {
        operation: site.operation.clone(),
        identity: site.identity.clone(),
        file: site.place.file.shown.clone(),
        line: site.place.line,
        column: site.place.column,
        through: inner.through.clone(),
        spawned: inner.is_spawned,
        places: inner.places.into(),
        in_loop: inner.is_looped,
        attempts: inner.attempts.into(),
        multiplied: inner.multiplied.into(),
        recursive: inner.is_recursive,
    })
}

impl From<Count> for Attempts {
    fn from(count: Count) -> Self {
        match count {
            Count::Known(count) => Self::Known(count),
            Count::Unlimited => Self::Word("unlimited"),
            Count::Unknown => Self::Word("unknown"),
        }
    }
}

impl std::fmt::Display for Attempts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Known(count) => count.fmt(f),
            Self::Word("unknown") => "?".fmt(f),
            Self::Word(word) => word.fmt(f),
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
