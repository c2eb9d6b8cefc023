//! Tasks as text and as JSON.

use std::error::Error;

use reattempt_supervisor::{Kind, Progress, Record, Run, State};
use serde::Serialize;

type Shown = Result<(), Box<dyn Error>>;

pub(crate) fn list(runs: &[Run], as_json: bool) -> Shown {
    if as_json {
        return json(&runs);
    }
    let rows = runs.iter().map(|run| {
        [
            run.id.to_string(),
            format!("{} {}", run.workflow, run.version),
            run.state.to_string(),
            run.failures.to_string(),
            run.updated_at.to_string(),
            // What went wrong before it went well is in `show`.
            run.error
                .clone()
                .filter(|_| run.state != State::Processed)
                .unwrap_or_default(),
        ]
    });
    table(
        ["task", "workflow", "state", "failures", "changed", "error"],
        rows,
    );
    Ok(())
}

pub(crate) fn counts(counts: &[(State, u64)], as_json: bool) -> Shown {
    if as_json {
        let counts = counts
            .iter()
            .map(|(state, count)| (state.word().to_owned(), (*count).into()));
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

pub(crate) fn task(progress: &Progress, as_json: bool) -> Shown {
    if as_json {
        return json(progress);
    }
    let Progress { run, history } = progress;
    let optional = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    for (name, value) in [
        ("task", run.id.to_string()),
        ("workflow", format!("{} {}", run.workflow, run.version)),
        ("key", run.key.clone()),
        ("queue", format!("{}, priority {}", run.queue, run.priority)),
        ("state", run.state.to_string()),
        (
            "failures",
            format!("{} of {}", run.failures, run.max_failures),
        ),
        (
            "owner",
            run.owner
                .as_ref()
                .map_or_else(|| "-".to_owned(), ToString::to_string),
        ),
        ("submitted", run.created_at.to_string()),
        ("changed", run.updated_at.to_string()),
        ("wakes", run.wake_at.to_string()),
        (
            "complete by",
            run.complete_by
                .map_or_else(|| "-".to_owned(), |by| by.to_string()),
        ),
        ("input", run.input.clone()),
        ("output", optional(&run.output)),
        ("error", optional(&run.error)),
    ] {
        println!("{name:<12} {value}");
    }
    println!();
    table(
        ["step", "name", "what", "when", "answer or error"],
        history.iter().map(row),
    );
    Ok(())
}

fn row(record: &Record) -> [String; 5] {
    let what = match record.kind {
        Kind::Begun => "begun",
        Kind::Done => "done",
        Kind::Failed => "failed",
        Kind::Undone => "undone",
    };
    let answer = record.error.as_ref().or(record.result.as_ref());
    [
        record.seq.to_string(),
        record.name.clone(),
        what.to_owned(),
        record.at.to_string(),
        answer.cloned().unwrap_or_default(),
    ]
}

fn json(value: &impl Serialize) -> Shown {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}

/// Columns as wide as what is in them; the last one is not filled up.
fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) {
    let rows: Vec<_> = std::iter::once(head.map(str::to_owned))
        .chain(rows)
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
