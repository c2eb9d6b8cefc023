//! A schedule as a timeline: one call whose attempts all fail, to scale. Each attempt is a bar, each delay a line with
//! the band of its jitter, the deadline a line across.

mod drawn;
mod text;

use std::ops::Range;
use std::time::Duration;

use retry_runtime::duration::Human;

use super::schedule::Schedule;
pub(super) use drawn::svg;
pub(super) use text::text;

/// Attempts that are drawn: later ones tell nothing new.
const DRAWN: usize = 12;

/// A deadline is drawn if it is at most so many times as late as the attempts.
const FAR: u32 = 5;

/// The length of a picture in which everything happens at once.
const INSTANT: Duration = Duration::from_secs(1);

/// A unit of time: its length in seconds, its name.
type Unit = (f64, &'static str);

const UNITS: [Unit; 6] = [
    (3600.0, "h"),
    (60.0, "min"),
    (1.0, "s"),
    (1e-3, "ms"),
    (1e-6, "µs"),
    (1e-9, "ns"),
];

/// One call: every attempt takes all of its `timeout`, or no time without one, and every delay is of average length.
#[derive(Debug)]
pub(super) struct Timeline {
    rows: Vec<Row>,
    /// From the start of the call to the end of the picture, in units.
    end: f64,
    unit: Unit,
    deadline: Option<Deadline>,
    /// Sentences below the picture.
    notes: Vec<String>,
    has_timeout: bool,
}

/// All moments count from the start of the call, in units.
#[derive(Debug, PartialEq)]
struct Row {
    number: u32,
    /// Of the delay what does not depend on jitter.
    delay: Range<f64>,
    /// When the attempt can start.
    jitter: Range<f64>,
    /// `None`: the attempt starts only if the delays before it are short.
    attempt: Option<Range<f64>>,
}

#[derive(Debug)]
struct Deadline {
    /// `None`: far behind the end of the picture.
    at: Option<f64>,
    name: String,
}

impl Timeline {
    /// The timeline; none of a policy without a retry.
    pub(super) fn of(schedule: &Schedule) -> Option<Self> {
        if schedule.attempts.len() < 2 {
            return None;
        }
        let rows = rows(schedule);
        let last = rows.iter().map(Moments::last).max().unwrap_or_default();
        let deadline = schedule.deadline;
        let near = deadline.filter(|it| last.is_zero() || *it <= last.saturating_mul(FAR));
        let end = near.unwrap_or(last);
        let end = if end.is_zero() { INSTANT } else { end };
        let unit = unit(end);
        let scaled = |moment: Duration| moment.as_secs_f64() / unit.0;
        let range = |it: &Range<Duration>| scaled(it.start)..scaled(it.end);
        let row = |it: &Moments| Row {
            number: it.number,
            delay: range(&it.delay),
            jitter: range(&it.jitter),
            attempt: it.attempt.as_ref().map(range),
        };
        Some(Self {
            notes: notes(schedule, &rows),
            rows: rows.iter().map(row).collect(),
            // A little room for what ends there.
            end: scaled(end) * 1.02,
            unit,
            deadline: deadline.map(|it| Deadline {
                at: near.map(scaled),
                name: format!("deadline: {}", Human(it)),
            }),
            has_timeout: schedule.timeout.is_some(),
        })
    }

    const fn title() -> &'static str {
        "A call whose attempts all fail, with delays of average length"
    }

    fn across(&self) -> String {
        format!("time since the call ({})", self.unit.1)
    }

    const fn attempt(&self) -> &'static str {
        if self.has_timeout {
            "attempt, as long as its timeout"
        } else {
            "attempt, as if it took no time"
        }
    }
}

/// A row before there is a unit.
struct Moments {
    number: u32,
    delay: Range<Duration>,
    jitter: Range<Duration>,
    attempt: Option<Range<Duration>>,
}

impl Moments {
    fn last(&self) -> Duration {
        self.attempt
            .as_ref()
            .map_or(self.jitter.end, |attempt| attempt.end.max(self.jitter.end))
    }
}

fn rows(schedule: &Schedule) -> Vec<Moments> {
    let cut = |moment: Duration| moment.min(schedule.deadline.unwrap_or(Duration::MAX));
    let mut ended = Duration::ZERO;
    let row = |attempt: &super::schedule::Attempt| {
        let (least, longest) = attempt
            .delay
            .map_or_else(Default::default, |delay| (delay.least, delay.longest));
        let earliest = ended.saturating_add(least);
        let latest = ended.saturating_add(longest);
        let start = earliest.saturating_add(longest.saturating_sub(least) / 2);
        let number = attempt.number;
        if schedule.deadline.is_some_and(|deadline| start >= deadline) {
            // As are all that follow.
            ended = start;
            let (earliest, latest) = (attempt.start.earliest, attempt.start.latest);
            return Moments {
                number,
                delay: earliest..earliest,
                jitter: earliest..cut(latest),
                attempt: None,
            };
        }
        let before = ended;
        ended = cut(start.saturating_add(schedule.timeout.unwrap_or_default()));
        Moments {
            number,
            delay: before..earliest,
            jitter: earliest..cut(latest),
            attempt: Some(start..ended),
        }
    };
    let mut rows: Vec<_> = schedule.attempts.iter().take(DRAWN).map(row).collect();
    // One of those stands for all of them.
    let usual = rows.iter().take_while(|row| row.attempt.is_some()).count();
    rows.truncate(usual.saturating_add(1));
    rows
}

fn notes(schedule: &Schedule, rows: &[Moments]) -> Vec<String> {
    let mut notes = Vec::new();
    let is_short = schedule.timeout.is_some();
    if let Some(first) = rows.iter().find(|row| row.attempt.is_none()) {
        notes.push(format!(
            "Attempts from {} on start only if {} short.",
            first.number,
            if is_short {
                "the attempts and delays before are"
            } else {
                "the delays before are"
            }
        ));
    }
    if schedule.attempts.len() > DRAWN && notes.is_empty() {
        notes.push(format!("These are the first {DRAWN} attempts."));
    }
    notes
}

/// The largest unit of which `highest` is at least two.
fn unit(highest: Duration) -> Unit {
    let seconds = highest.as_secs_f64();
    let fits = |(length, _): &&Unit| seconds >= 2.0 * length;
    let [.., smallest] = UNITS;
    UNITS.iter().find(fits).copied().unwrap_or(smallest)
}

#[cfg(test)]
mod tests;
