//! A reader of the feed of ends.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::Client;
use crate::store::{Ending, FeedCursor, FeedPage, StoreError};

/// How many lines a reader gets at most, unless it says so.
const LIMIT: u32 = 100;

/// How long a reader waits between two looks, unless it says so.
const EVERY: Duration = Duration::from_millis(500);

/// How often a reader asks for numbers that have been missing for long.
const OLD_GAPS_EVERY: Duration = Duration::from_secs(1);

/// A reader of the feed of ends. [`Client::ends`] makes it.
#[derive(Debug)]
pub struct Ends {
    client: Client,
    reader: String,
    filter: EndsFilter,
    limit: u32,
    every: Duration,
    /// Where the reader is once the lines are acknowledged that it has got.
    next: Option<FeedCursor>,
    /// Where the reader is, and how many missed lines `next` has reported.
    missed: Option<(FeedCursor, u64)>,
    /// When it asked last for numbers that have been missing for long.
    asked: Option<Instant>,
}

/// Which lines a reader gets.
#[derive(Debug, Default)]
struct EndsFilter {
    workflow: Option<String>,
    queue: Option<String>,
    header: Option<(String, String)>,
}

impl EndsFilter {
    fn fits(&self, line: &Ending) -> bool {
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == found)
        };
        let has = |(name, value): &(String, String)| line.header(name).as_ref() == Some(value);
        is(&self.workflow, &line.workflow)
            && is(&self.queue, &line.queue)
            && self.header.as_ref().is_none_or(has)
    }
}

impl Ends {
    pub(super) fn new(client: Client, reader: String) -> Self {
        Self {
            client,
            reader,
            filter: EndsFilter::default(),
            limit: LIMIT,
            every: EVERY,
            next: None,
            missed: None,
            asked: None,
        }
    }

    /// Reads ends of tasks of this workflow alone.
    #[must_use]
    pub fn workflow(mut self, name: impl Into<String>) -> Self {
        self.filter.workflow = Some(name.into());
        self
    }

    /// Reads ends of tasks in this queue alone.
    #[must_use]
    pub fn queue(mut self, name: impl Into<String>) -> Self {
        self.filter.queue = Some(name.into());
        self
    }

    /// Reads ends of tasks alone whose headers have this name with this value. A value that is not a string is
    /// compared as JSON.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.filter.header = Some((name.into(), value.into()));
        self
    }

    /// Sets how many lines of the feed [`next`](Self::next) reads at once. It may return more where transactions that
    /// were open for long end together.
    ///
    /// # Default
    ///
    /// 100. 0 counts as 1.
    #[must_use]
    pub fn limit(mut self, lines: u32) -> Self {
        self.limit = lines.max(1);
        self
    }

    /// Sets how long [`next`](Self::next) waits between two looks. It looks earlier when a process notifies it that
    /// a task has ended: on PostgreSQL any process, otherwise this one.
    ///
    /// # Default
    ///
    /// 500 ms.
    #[must_use]
    pub fn every(mut self, interval: Duration) -> Self {
        self.every = interval;
        self
    }

    /// Returns the next ends, at least one, and waits for it without a limit. It returns the same ones again until
    /// they are [acknowledged](Self::acknowledge), also in another process, so an end may come more than once. The
    /// ends of one task come in their order; those of two tasks may not.
    ///
    /// The first call adds the reader to the store, and begins with the oldest line that is left.
    ///
    /// # Errors
    ///
    /// Fails with [`EndsError::Missed`] if lines were pruned before this reader got them, until you
    /// [skip](Self::skip_missed) them, and with [`EndsError::Store`] if the store has a lasting error, or a passing
    /// one for more than 30 seconds.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, nothing is lost: the next call returns what this one would have.
    pub async fn next(&mut self) -> Result<Vec<Ending>, EndsError> {
        let client = self.client.clone();
        loop {
            // Before the look: an end between the look and the wait counts, too.
            let ended = client.store().wait_for_ends();
            let FeedPage {
                mut endings,
                missed,
                cursor,
                next,
            } = self.look().await?;
            if missed > 0 {
                self.missed = Some((cursor, missed));
                return Err(EndsError::Missed(missed));
            }
            let is_last = u32::try_from(endings.len()).is_ok_and(|lines| lines < self.limit);
            endings.retain(|line| self.filter.fits(line));
            if !endings.is_empty() {
                self.next = Some(next);
                return Ok(endings);
            }
            if next != cursor {
                self.move_to(next, 0).await?;
            }
            if is_last {
                let _ = tokio::time::timeout(self.every, ended).await;
            }
        }
    }

    /// Says that the ends are done which [`next`](Self::next) returned last: the reader does not get them again. Where
    /// two processes read under one name and the other one has acknowledged meanwhile, nothing changes, and some ends
    /// come again. Without such ends it does nothing.
    ///
    /// # Errors
    ///
    /// Fails with [`EndsError::Store`] if the store has a lasting error, or a passing one for more than 30 seconds.
    /// Then call it again, or [`next`](Self::next), which may return the ends again.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, they may be acknowledged or not.
    pub async fn acknowledge(&mut self) -> Result<(), EndsError> {
        let Some(next) = self.next.clone() else {
            return Ok(());
        };
        self.move_to(next, 0).await?;
        self.next = None;
        Ok(())
    }

    /// Goes on after [`EndsError::Missed`] with what is left. [`Client::list`] with `ended_since` may find the tasks
    /// themselves. Without such an error it does nothing.
    ///
    /// # Errors
    ///
    /// Fails with [`EndsError::Store`] if the store has a lasting error, or a passing one for more than 30 seconds.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the next call of [`next`](Self::next) may fail again or not.
    pub async fn skip_missed(&mut self) -> Result<(), EndsError> {
        let Some((cursor, reported)) = self.missed.clone() else {
            return Ok(());
        };
        self.move_to(cursor, reported).await?;
        self.missed = None;
        Ok(())
    }

    /// Reads the next lines.
    async fn look(&mut self) -> Result<FeedPage, EndsError> {
        // Seldom, because they may be many: a transaction that stays open in any database keeps them.
        let is_due = |asked: Instant| asked.elapsed() >= OLD_GAPS_EVERY;
        let old_gaps = self.asked.is_none_or(is_due);
        let (reader, limit) = (&self.reader, self.limit);
        let reading = (self.client).read(|store| store.read_feed(reader.clone(), limit, old_gaps));
        let page = reading.await?;
        if old_gaps {
            self.asked = Some(Instant::now());
        }
        Ok(page)
    }

    async fn move_to(&self, to: FeedCursor, reported: u64) -> Result<(), EndsError> {
        // Whether it has moved does not matter. If it has not, another process has acknowledged what it got itself, or
        // an earlier answer was lost.
        let moving = (self.client)
            .read(|store| store.move_reader(self.reader.clone(), to.clone(), reported));
        moving.await?;
        Ok(())
    }
}

/// A reader could not get the next ends.
#[derive(Debug)]
#[non_exhaustive]
pub enum EndsError {
    /// The store has an error.
    Store(Arc<StoreError>),
    /// So many lines were pruned before the reader got them, whether it would have got them by its filter or not.
    /// Those that it had got and not acknowledged may be among them.
    Missed(u64),
}

impl fmt::Display for EndsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Missed(lines) => write!(
                f,
                "{lines} ends were pruned before this reader got them: look for their tasks, and call `skip_missed`"
            ),
        }
    }
}

impl std::error::Error for EndsError {}

impl From<Arc<StoreError>> for EndsError {
    fn from(error: Arc<StoreError>) -> Self {
        Self::Store(error)
    }
}
