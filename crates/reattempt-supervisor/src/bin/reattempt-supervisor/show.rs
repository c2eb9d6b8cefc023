//! Prints tasks as tables and as JSON.

use std::collections::BTreeMap;
use std::error::Error;

use reattempt_supervisor::store::{QueueStatus, StoredSchedule};
use reattempt_supervisor::{
    FailingStep, OperatorNote, Progress, Record, RunningStep, State, Task, TaskLimit,
};
use serde::Serialize;

type PrintResult = Result<(), Box<dyn Error>>;

/// Prints a list of tasks.
pub(crate) fn list(tasks: &[Task], as_json: bool) -> PrintResult {
    if as_json {
        return json(&tasks);
    }
    let rows = tasks.iter().map(|task| {
        [
            task.id.to_string(),
            format!("{} {}", task.workflow, task.version),
            task.state.to_string(),
            task.failures.to_string(),
            match task.key_free_at() {
                Some(at) => format!("key free at {at}"),
                None => task.updated_at.to_string(),
            },
            // `show` has the errors before the success.
            task.error
                .clone()
                .filter(|_| task.state != State::Processed)
                .unwrap_or_default(),
        ]
    });
    table(
        ["task", "workflow", "state", "failures", "changed", "error"],
        rows,
    );
    Ok(())
}

/// Prints the number of tasks in each state.
pub(crate) fn counts(counts: &[(State, u64)], as_json: bool) -> PrintResult {
    if as_json {
        let counts = counts
            .iter()
            .map(|(state, count)| (state.as_str().to_owned(), (*count).into()));
        return json(&counts.collect::<serde_json::Map<_, _>>());
    }
    table(
        ["state", "tasks"],
        counts
            .iter()
            .map(|(state, count)| [state.to_string(), count.to_string()]),
    );
    Ok(())
}

/// Returns the fields of a limit, with others before them.
fn limited(fields: serde_json::Value, limit: TaskLimit) -> serde_json::Value {
    let (tasks, period) = limit.max_rate().unzip();
    let mut all = fields;
    all["concurrency"] = limit.max_concurrency().into();
    all["rate"] = tasks.into();
    all["period_seconds"] = period.map(|period| period.as_secs_f64()).into();
    all
}

/// Prints the limits of lanes.
pub(crate) fn lanes(limits: &BTreeMap<String, TaskLimit>, as_json: bool) -> PrintResult {
    if as_json {
        let lane = |(lanes, limit): (&String, &TaskLimit)| {
            limited(serde_json::json!({ "lanes": lanes }), *limit)
        };
        return json(&limits.iter().map(lane).collect::<Vec<_>>());
    }
    let rows = limits.iter();
    let rows = rows.map(|(lanes, limit)| [lanes.clone(), limit.to_string()]);
    table(["lanes", "limit"], rows);
    Ok(())
}

/// Prints what the queues have to do.
pub(crate) fn queues(queues: &[QueueStatus], as_json: bool) -> PrintResult {
    if as_json {
        let queue = |status: &QueueStatus| {
            let fields = serde_json::json!({
                "queue": status.queue,
                "pending": status.pending,
                "oldest_seconds": status.oldest.as_secs_f64(),
                "in_flight": status.in_flight,
                "parked": status.parked,
            });
            limited(fields, status.limit)
        };
        return json(&queues.iter().map(queue).collect::<Vec<_>>());
    }
    let rows = queues.iter().map(|status| {
        [
            status.queue.clone(),
            status.pending.to_string(),
            format!("{:.1}s", status.oldest.as_secs_f64()),
            status.in_flight.to_string(),
            status.parked.to_string(),
            status.limit.to_string(),
        ]
    });
    table(
        ["queue", "pending", "oldest", "in flight", "parked", "limit"],
        rows,
    );
    Ok(())
}

/// Prints a list of schedules.
pub(crate) fn schedules(schedules: &[StoredSchedule], as_json: bool) -> PrintResult {
    if as_json {
        return json(&schedules);
    }
    let rows = schedules.iter().map(|schedule| {
        [
            schedule.name.clone(),
            schedule.cron.clone(),
            schedule.missed.as_str().to_owned(),
            schedule.revision.to_string(),
            schedule.state.as_str().to_owned(),
            schedule.next_at.to_string(),
            [&*schedule.by, &*schedule.why].join(" ").trim().to_owned(),
        ]
    });
    table(
        [
            "schedule", "times", "missed", "revision", "state", "next", "by",
        ],
        rows,
    );
    Ok(())
}

/// Prints a task and its records.
pub(crate) fn task(progress: &Progress, as_json: bool) -> PrintResult {
    if as_json {
        return json(progress);
    }
    let Progress {
        task,
        history,
        running,
        failures,
        notes,
    } = progress;
    let lines = [
        ("task", Some(task.id.to_string())),
        ("state", Some(task.state.to_string())),
    ];
    let lines = lines
        .into_iter()
        .chain(task.facts().map(|(name, value)| (name, Some(value))));
    let payloads = [
        ("headers", task.headers.clone()),
        ("input", Some(task.input.clone())),
        ("output", task.output.clone()),
    ];
    for (name, value) in lines.chain(payloads) {
        if let Some(value) = value {
            println!("{name:<12} {}", visible(&value));
        }
    }
    if !running.is_empty() {
        println!();
        table(
            ["step", "runs", "since", "until", "worker"],
            running.iter().map(running_row),
        );
    }
    println!();
    table(
        ["step", "name", "what", "when", "result or error"],
        history.iter().map(row),
    );
    if !failures.is_empty() {
        println!();
        table(
            ["step", "direction", "failures", "last", "error"],
            failures.iter().map(failing_row),
        );
    }
    if !notes.is_empty() {
        println!();
        table(
            ["step", "verdict", "by", "when", "why"],
            notes.iter().map(note_row),
        );
    }
    Ok(())
}

/// Returns the cells of a record.
fn row(record: &Record) -> [String; 5] {
    let result = record.error.as_ref().or(record.result.as_ref());
    [
        record.seq.to_string(),
        record.name.clone(),
        record.kind.as_str().to_owned(),
        record.at.to_string(),
        result.cloned().unwrap_or_default(),
    ]
}

/// Returns the cells of a step that runs.
fn running_row(step: &RunningStep) -> [String; 5] {
    [
        step.seq.to_string(),
        step.name.clone(),
        step.since.to_string(),
        step.due
            .map_or_else(|| "-".to_owned(), |due| due.to_string()),
        step.worker.to_string(),
    ]
}

/// Returns the cells of a step that has failed.
fn failing_row(step: &FailingStep) -> [String; 5] {
    [
        step.seq.to_string(),
        step.direction.as_str().to_owned(),
        step.failures.to_string(),
        step.at.to_string(),
        step.error.clone(),
    ]
}

/// Returns the cells of what an operator has said.
fn note_row(note: &OperatorNote) -> [String; 5] {
    [
        note.seq
            .map_or_else(|| "-".to_owned(), |seq| seq.to_string()),
        note.verdict.clone(),
        note.by.clone(),
        note.at.to_string(),
        note.why.clone(),
    ]
}

fn json(value: &impl Serialize) -> PrintResult {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}

/// Returns a text of a task with its control characters escaped: a terminal obeys them, and a line ends at some.
fn visible(text: &str) -> String {
    let escaped = |c: char| {
        if c.is_control() {
            c.escape_default().to_string()
        } else {
            c.to_string()
        }
    };
    text.chars().map(escaped).collect()
}

/// Prints columns as wide as their contents; the last one has no padding.
fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) {
    let rows: Vec<_> = std::iter::once(head.map(str::to_owned))
        .chain(rows)
        .map(|row| row.map(|cell| visible(&cell)))
        .collect();
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or_default()
    };
    let widths: [usize; N] = std::array::from_fn(width);
    for row in &rows {
        let cells = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:<width$}"));
        println!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}
