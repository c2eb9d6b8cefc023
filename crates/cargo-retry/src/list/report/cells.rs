//! What is said of a place, in as few words as a cell has room for.

use std::fmt::Write as _;
use std::time::Duration;

use retry_runtime::duration::Human;
use retry_runtime::rules::Key;

use super::{Attempts, Below, Listing, Row, Schedule};
use crate::list::sites::Form;

/// Delays that are shown.
const SHOWN: usize = 4;

/// Functions between two retries that are shown.
const FUNCTIONS: usize = 4;

/// What is called, and through what.
pub(super) fn callee(below: &Below) -> String {
    let mut callee = below.operation.clone();
    match below.through.as_slice() {
        [] => {}
        [first, .., last] if below.through.len() > FUNCTIONS => {
            let _ = write!(callee, "\nthrough {first}, ..., {last}");
        }
        all => {
            let _ = write!(callee, "\nthrough {}", all.join(", "));
        }
    }
    callee
}

/// Those of the innermost call.
pub(super) fn attempts_below(below: &Below) -> String {
    if below.recursive {
        return "as deep as the circle goes".to_owned();
    }
    let mut text = match below.attempts {
        Attempts::Word("unlimited") => "no limit".to_owned(),
        Attempts::Word(_) => "not known here".to_owned(),
        Attempts::Known(count) if below.is_held() => format!("{count}, not {}", below.multiplied),
        Attempts::Known(count) => count.to_string(),
    };
    if below.in_loop {
        text += "\nfor each turn of the loop";
    }
    if below.spawned {
        text += "\nspawned: knows of no retry";
    }
    text
}

/// A line for each place: where, what, attempts, time and load.
pub(super) fn lines(listing: &Listing) -> String {
    let one_line = |cell: String| cell.lines().collect::<Vec<_>>().join(", ");
    let line = |row: &Row| {
        format!(
            "{}:{}: {}: {}, {}, load {}\n",
            row.file,
            row.line,
            row.operation,
            match row.schedule.as_ref().map(|it| it.attempts) {
                Some(Attempts::Known(1)) => "1 attempt".to_owned(),
                _ => format!("{} attempts", one_line(attempts(row))),
            },
            one_line(time(row)),
            one_line(load(row)),
        )
    };
    listing.policies.iter().map(line).collect()
}

pub(super) fn what(row: &Row) -> String {
    let mut text = format!("{}\n{}:{}", row.operation, row.file, row.line);
    if let Some(name) = &row.by_macro {
        let _ = write!(text, "\nin `{name}!`");
    }
    if !row.conditions.is_empty() {
        let _ = write!(text, "\nif {}", row.conditions.join(" and "));
    }
    text
}

pub(super) fn attempts(row: &Row) -> String {
    match (&row.schedule, row.key("max")) {
        (
            Some(Schedule {
                attempts: Attempts::Word("unknown"),
                ..
            }),
            Some(written),
        ) => written.to_owned(),
        (Some(schedule), _) => schedule.attempts.to_string(),
        (None, _) => "?".to_owned(),
    }
}

pub(super) fn delays(row: &Row) -> String {
    let Some(schedule) = &row.schedule else {
        return row
            .written
            .iter()
            .map(|it| it.value.as_str())
            .collect::<Vec<_>>()
            .join(", ");
    };
    if row.key("strategy").is_some() {
        return "as its strategy says".to_owned();
    }
    let Some(delays) = &schedule.delays else {
        let given = Key::DELAYS.iter().filter_map(|key| {
            row.key(key.as_str())
                .map(|value| format!("{key} = {value}"))
        });
        let given: Vec<_> = given.collect();
        return if given.is_empty() {
            "?".to_owned()
        } else {
            given.join(", ")
        };
    };
    let each = delays.iter().map(|delay| {
        let (least, longest) = (
            Duration::from_nanos(delay.least_ns),
            Duration::from_nanos(delay.longest_ns),
        );
        match (least, longest) {
            (least, longest) if least == longest && least.is_zero() => "none".to_owned(),
            (least, longest) if least == longest => Human(least).to_string(),
            (least, longest) if least.is_zero() => format!("0-{}", Human(longest)),
            (least, longest) => range(&Human(least).to_string(), &Human(longest).to_string()),
        }
    });
    let each: Vec<_> = each.collect();
    match (each.get(..SHOWN), each.last()) {
        _ if each.is_empty() => String::new(),
        _ if each.iter().all(|it| each.first() == Some(it)) && each.len() > 1 => {
            each.first().map_or_else(String::new, |one| {
                if one == "none" {
                    one.clone()
                } else {
                    format!("{one} each")
                }
            })
        }
        (Some(first), Some(last)) if each.len() > SHOWN => {
            let more = if matches!(schedule.attempts, Attempts::Known(count) if count <= u64::from(super::TOLD) + 1)
            {
                ""
            } else {
                ", ..."
            };
            format!("{}, ... {last}{more}", first.join(", "))
        }
        _ => each.join(", "),
    }
}

/// The unit once, if it is the same.
fn range(least: &str, longest: &str) -> String {
    match (least.split_once(' '), longest.split_once(' ')) {
        (Some((number, one)), Some((_, other))) if one == other => format!("{number}-{longest}"),
        _ => format!("{least}-{longest}"),
    }
}

pub(super) fn time(row: &Row) -> String {
    let Some(schedule) = &row.schedule else {
        return "?".to_owned();
    };
    let human = |nanos: u64| Human(Duration::from_nanos(nanos)).to_string();
    if let Some(deadline) = schedule.deadline_ns {
        return match human(deadline) {
            deadline if row.r#async => deadline,
            deadline => format!("{deadline} + an attempt"),
        };
    }
    if row.key("strategy").is_some() {
        return "as its strategy says".to_owned();
    }
    if schedule.words.is_none() {
        return "?".to_owned();
    }
    if let (Some(wall), Some(timeout)) = (schedule.wall_ns, schedule.timeout_ns) {
        return human(wall.saturating_add(timeout));
    }
    match schedule.sleeping_ns {
        Some(0) => "attempts alone".to_owned(),
        Some(sleeping) => format!("{} + attempts", human(sleeping)),
        None => "no limit".to_owned(),
    }
}

pub(super) fn load(row: &Row) -> String {
    let Some(schedule) = &row.schedule else {
        return "?".to_owned();
    };
    let mut text = match schedule.load {
        Attempts::Word("unlimited") => "no limit".to_owned(),
        attempts => format!("x{attempts}"),
    };
    if let Some(share) = schedule.budget {
        let _ = write!(text, "\nx{} on average", 1.0 + share);
    }
    let known = row.calls.iter().filter_map(|below| match below.attempts {
        Attempts::Known(count) => Some((count, below.in_loop)),
        Attempts::Word(_) => None,
    });
    if let Some(most) = known.clone().map(|(count, _)| count).max() {
        let _ = write!(text, "\nx{most} below");
        if known.clone().any(|(_, in_loop)| in_loop) {
            text += ", each turn";
        }
    }
    text
}

pub(super) fn limits(row: &Row) -> String {
    let mut parts = Vec::new();
    if let Some(policy) = &row.policy {
        parts.push(format!("policy {policy}"));
    }
    if row.off {
        parts.push("switched off".to_owned());
    }
    for key in ["budget", "breaker", "bulkhead", "throttle", "hedge"] {
        if let Some(value) = row.key(key) {
            parts.push(format!("{key} {value}"));
        }
    }
    if row.brings_budget && row.key("budget").is_none() {
        let share = row.schedule.as_ref().and_then(|it| it.budget);
        parts.push(match share {
            Some(share) => format!("its budget {share}"),
            None => "its budget".to_owned(),
        });
    }
    if row.default_budget.is_some() {
        parts.push("default budget".to_owned());
    }
    if row.form == Form::Method.as_str() {
        parts.push("of its `impl`".to_owned());
    }
    parts.join("\n")
}

pub(super) fn nested(row: &Row, below: &Below) -> String {
    let through = if below.through.is_empty() {
        String::new()
    } else {
        format!(" through {}", below.through.join(", "))
    };
    let mut text = format!(
        "{}:{}: {} calls {} ({}:{}){through}",
        row.file, row.line, row.operation, below.operation, below.file, below.line
    );
    let _ = match (below.attempts, below.multiplied) {
        _ if below.recursive => write!(
            text,
            ": the calls go in a circle; how many attempts that makes depends on how deep they go"
        ),
        (Attempts::Word("unlimited"), _) => write!(text, ": no limit to the attempts below"),
        (Attempts::Word(_), _) => write!(text, ": how many attempts that makes is not known here"),
        (attempts, multiplied) if attempts == multiplied => {
            write!(text, ": up to {attempts} attempts below for one call")
        }
        (attempts, multiplied) => {
            write!(
                text,
                ": up to {attempts} attempts below for one call, not {multiplied}: retries in a retry make one attempt"
            )
        }
    };
    if below.in_loop {
        text += "; this is for each turn of the loop on the way";
    }
    if below.spawned {
        text += "; it is spawned, and does not know of the retry around it";
    }
    text
}
