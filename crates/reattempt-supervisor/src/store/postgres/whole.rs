//! Whole looks: one process finds the first task of each level and names it to the others, which look from their places
//! on. It takes at most a twentieth of the time, so that it costs little also where it reads many dead entries.

use std::time::Duration;

use tokio::time::Instant;

use super::link::{Link, Need};
use super::places::{Level, Place, Places, SHARE};
use super::sql::now;
use crate::store::StoreError;

/// How many pauses others wait before they look at everything by themselves.
const PATIENCE: u32 = 10;

/// How often a process reports that it looks if there is nothing to name.
const REPORTED_EVERY: Duration = Duration::from_secs(5);

/// How long a look takes at most that goes with others.
const QUICK: Duration = Duration::from_millis(50);

/// How many bytes of levels one notification has: PostgreSQL limits it to 8000.
const BYTES: usize = 7_000;

// All levels with their first tasks.
macro_rules! level {
    () => {
        "level (queue, workflow, version, priority, wake_at, run_id) AS (
         SELECT head.* FROM (
             SELECT queue, workflow, version, priority, wake_at, run_id FROM retry_ready AS ready WHERE NOT is_suspect
             ORDER BY ready.queue, workflow, version, priority, wake_at, run_id LIMIT 1
         ) AS head
       UNION ALL
         SELECT next.* FROM level CROSS JOIN LATERAL (
             SELECT ready.queue, ready.workflow, ready.version, ready.priority, ready.wake_at, ready.run_id FROM retry_ready AS ready
             WHERE NOT is_suspect AND (ready.queue, ready.workflow, ready.version, ready.priority)
                 > (level.queue, level.workflow, level.version, level.priority)
             ORDER BY ready.queue, ready.workflow, ready.version, ready.priority, ready.wake_at, ready.run_id LIMIT 1
         ) AS next
     )"
    };
}

// The first task of each level that is ready, as JSON.
macro_rules! first {
    () => {
        concat!(
            "(SELECT coalesce(json_agg(json_build_array(json_build_array(queue, workflow, version, priority),
             json_build_array(wake_at, run_id))), '[]')::text FROM level WHERE wake_at <= ",
            now!(),
            ")"
        )
    };
}

pub(super) use {first, level};

/// Looks at everything.
pub(super) const WHOLE: &str = concat!("WITH RECURSIVE ", level!(), " SELECT ", first!());

/// Reports that this process looks at everything, and what there is.
pub(super) const REPORT: &str =
    "SELECT set_config('synchronous_commit', 'off', true), pg_notify('retry_looked', $1)";

/// When this process looks next, and when it has reported so.
#[derive(Debug, Default)]
pub(super) struct Rhythm {
    next: Option<Instant>,
    reported: Option<Instant>,
    /// How long the last look took.
    took: Duration,
}

impl Rhythm {
    /// Returns whether it is time for a look.
    pub(super) fn is_due(&self) -> bool {
        self.next.is_none_or(|next| next <= Instant::now())
    }

    /// Returns whether a look goes with what a supervisor asks for: one that takes long must not delay that.
    pub(super) fn is_quick(&self) -> bool {
        self.took < QUICK
    }

    /// Notes a look that began then. Returns the pause after it.
    pub(super) fn note(&mut self, began: Instant) -> Duration {
        self.took = began.elapsed();
        let pause = self.took.saturating_mul(SHARE);
        // The pause grows with the look: beside an old snapshot it reads all dead entries.
        self.next = Instant::now().checked_add(pause);
        pause
    }
}

/// Looks at everything, for a look that may take long.
pub(super) async fn look(link: &Link) -> Result<Vec<(Level, Place)>, StoreError> {
    let rows = link.query(Need::Work, WHOLE, &[]).await?;
    Ok(rows
        .first()
        .map_or_else(Vec::new, |row| levels_of(row.get(0))))
}

/// Reports the first tasks that a look has found to this process and the others. The next look is after `pause`.
/// Returns whether this process has not seen something.
pub(super) async fn report(
    rhythm: &mut Rhythm,
    link: &Link,
    (places, own): (&Places, &str),
    first: &[(Level, Place)],
    pause: Duration,
) -> Result<bool, StoreError> {
    let is_news = report_here(first, places);
    // After that time the others look by themselves, because this process may be dead.
    let watched = pause.saturating_mul(PATIENCE);
    places.is_watched_for(watched);
    // Twice in the time for which others rely on it, so that a lost notification does not matter.
    let pause_of_reports = REPORTED_EVERY.min(watched.checked_div(2).unwrap_or_default());
    let is_reported = rhythm
        .reported
        .is_some_and(|reported| reported.elapsed() < pause_of_reports);
    if !first.is_empty() || !is_reported {
        rhythm.reported = Some(Instant::now());
        for levels in in_parts(first) {
            let payload = format!("{own} {} {levels}", watched.as_millis());
            link.query(Need::Look, REPORT, &[&payload]).await?;
        }
    }
    Ok(is_news)
}

/// Notes first tasks. Returns whether this process has not seen one.
fn report_here(first: &[(Level, Place)], places: &Places) -> bool {
    let news = first
        .iter()
        .filter(|(level, first)| places.report_first(level, *first));
    news.count() > 0
}

/// Reads the levels and their first tasks.
pub(super) fn levels_of(json: &str) -> Vec<(Level, Place)> {
    // Another release may write them in another way. Then this process finds the tasks with its own
    // looks.
    serde_json::from_str(json).unwrap_or_default()
}

/// Writes levels as JSON, in as many texts as it takes, at least one.
fn in_parts(first: &[(Level, Place)]) -> Vec<String> {
    let mut parts = vec![String::new()];
    for level in first {
        let Ok(text) = serde_json::to_string(level) else {
            continue;
        };
        match parts.last_mut() {
            Some(part) if part.len().saturating_add(text.len()) < BYTES => {
                if !part.is_empty() {
                    part.push(',');
                }
                part.push_str(&text);
            }
            _ => parts.push(text),
        }
    }
    parts.iter().map(|part| format!("[{part}]")).collect()
}

/// Reads what another process has reported. Returns whether this process has not seen something.
pub(super) fn hear(reported: &str, places: &Places) -> bool {
    let Some((watched, levels)) = reported.split_once(' ') else {
        return false;
    };
    if let Ok(watched) = watched.parse() {
        places.is_watched_for(Duration::from_millis(watched));
    }
    report_here(&levels_of(levels), places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_reported_in_parts_that_fit() {
        let level = |nth: i16| ((format!("{nth:0>900}"), "plain".to_owned(), 1, nth), (1, 2));
        let all: Vec<(Level, Place)> = (0..20).map(level).collect();
        let parts = in_parts(&all);
        assert!(parts.len() > 1 && parts.iter().all(|part| part.len() < 7_500));
        let read = parts.iter().flat_map(|part| levels_of(part));
        assert_eq!(read.collect::<Vec<_>>(), all);
        assert_eq!(in_parts(&[]), ["[]"]);
    }
}
