//! Whole looks: one process finds the first task of each level and names it to the others, which look from their places
//! on. It takes at most a twentieth of the time, so that it costs little also where it reads many dead entries.

use std::time::Duration;

use tokio::time::Instant;
use tokio_postgres::Row;

use super::connection::Live;
use super::places::{Level, Place, Places, SHARE};
use super::sql::now;
use super::sqlstate::store_error;
use crate::store::StoreError;
use crate::store::limits::Limits;

/// How many pauses others wait before they look at everything by themselves.
const PATIENCE: u32 = 5;

/// How often a process reports that it looks if there is nothing to name.
const REPORTED_EVERY: Duration = Duration::from_secs(2);

/// How many bytes of levels one notification has: PostgreSQL limits it to 8000.
const BYTES: usize = 7_000;

/// The first task of each level that is ready.
pub(super) const WHOLE: &str = concat!(
    "WITH RECURSIVE level (queue, workflow, version, priority, wake_at, run_id) AS (
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
     )
     SELECT queue, workflow, version, priority, wake_at, run_id FROM level WHERE wake_at <= ", now!()
);

/// Says that somebody looks at everything, and what there is.
pub(super) const REPORT: &str =
    "SELECT set_config('synchronous_commit', 'off', true), pg_notify('retry_looked', $1)";

/// When this process looks next, and when it has reported so.
#[derive(Debug, Default)]
pub(super) struct Rhythm {
    next: Option<Instant>,
    reported: Option<Instant>,
}

/// Looks at everything, unless it is too early, and reports it to this process and the others. `every` is the interval of sweeps.
/// Returns whether this process has not seen something.
pub(super) async fn look(
    rhythm: &mut Rhythm,
    live: &Live,
    limits: &Limits,
    (places, own): (&Places, &str),
    every: Duration,
) -> Result<bool, StoreError> {
    let began = Instant::now();
    if rhythm.next.is_some_and(|next| next > began) {
        return Ok(false);
    }
    let looking = async {
        live.alone(Box::pin(live.query(WHOLE, &[])))
            .await
            .map_err(store_error)
    };
    let rows = limits.limited(looking).await;
    let pause = began.elapsed().saturating_mul(SHARE);
    rhythm.next = Instant::now().checked_add(pause);
    let first: Vec<_> = rows?.iter().map(first_of).collect();
    let is_news = first
        .iter()
        .filter(|(level, first)| places.report_first(level, *first))
        .count()
        > 0;
    let watched = pause.max(every).saturating_mul(PATIENCE);
    places.is_watched_for(watched);
    let pause_of_reports = REPORTED_EVERY.min(watched.checked_div(2).unwrap_or_default());
    let is_reported = rhythm
        .reported
        .is_some_and(|reported| reported.elapsed() < pause_of_reports);
    if !first.is_empty() || !is_reported {
        rhythm.reported = Some(Instant::now());
        for levels in in_parts(&first) {
            let payload = format!("{own} {} {levels}", watched.as_millis());
            let reporting = async {
                live.alone(Box::pin(live.query(REPORT, &[&payload])))
                    .await
                    .map_err(store_error)
            };
            limits.limited(reporting).await?;
        }
    }
    Ok(is_news)
}

fn first_of(row: &Row) -> (Level, Place) {
    let level = (row.get(0), row.get(1), row.get(2), row.get(3));
    (level, (row.get(4), row.get(5)))
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
    let levels: Vec<(Level, Place)> = serde_json::from_str(levels).unwrap_or_default();
    levels
        .iter()
        .filter(|(level, first)| places.report_first(level, *first))
        .count()
        > 0
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
        let read = parts
            .iter()
            .flat_map(|part| serde_json::from_str::<Vec<(Level, Place)>>(part).unwrap_or_default());
        assert_eq!(read.collect::<Vec<_>>(), all);
        assert_eq!(in_parts(&[]), ["[]"]);
    }
}
