//! Limits of queues and lanes: how many of their tasks run at once, and how many begin in a period. The
//! store keeps them, so that all processes keep them together.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::time::Time;

/// How many tasks of a queue, or of each lane, run at once and begin in a period, in all processes
/// together. It begins without limits. [`Client::limit_queue`](crate::Client::limit_queue) and
/// [`Client::limit_lanes`](crate::Client::limit_lanes) say what counts.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use reattempt_supervisor::{Client, Memory, TaskLimit, SubmitError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), SubmitError> {
/// let client = Client::new(Memory::new());
/// let limit = TaskLimit::new().concurrency(5).rate(50, Duration::from_secs(1));
/// client.limit_queue("mail", limit).await?;
/// // No limit any more.
/// client.limit_queue("mail", TaskLimit::new()).await?;
/// // Each lane whose name begins with `customer-`.
/// client.limit_lanes("customer-*", TaskLimit::new().concurrency(3)).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use = "give it to `Client::limit_queue` or `Client::limit_lanes`"]
pub struct TaskLimit {
    concurrency: Option<u32>,
    rate: Option<(u32, Duration)>,
}

impl TaskLimit {
    /// The shortest period of a rate. A shorter one would pass while a claim is on its way.
    pub const SHORTEST_PERIOD: Duration = Duration::from_millis(100);

    /// The longest period of a rate: a day.
    pub const LONGEST_PERIOD: Duration = Duration::from_secs(86_400);

    /// The largest number of tasks that a lane lets run at once, or begin in a period.
    pub const MOST_OF_A_LANE: u32 = 1_000;

    /// Returns what a queue or a lane has without limits.
    pub const fn new() -> Self {
        Self {
            concurrency: None,
            rate: None,
        }
    }

    /// Sets how many tasks of a queue workers hold at once. A task that sleeps, or waits for a signal, a
    /// child or its next try, does not count. The task of a worker that has died counts until a supervisor
    /// reclaims it.
    ///
    /// In a lane, it is how many tasks have the turn at once, from their first claim to their end, also while
    /// they wait.
    ///
    /// # Units and ranges
    ///
    /// 0 stops the queue or the lane. A lane has at most 1,000.
    pub const fn concurrency(self, tasks: u32) -> Self {
        Self {
            concurrency: Some(tasks),
            ..self
        }
    }

    /// Sets how many tasks workers may take in a period, whenever it begins. All of them may be taken at
    /// once: for an even flow, give a fraction for a fraction of the period.
    ///
    /// In a queue, a task that they take again after a failure, a sleep or a wait counts again. The store
    /// counts in twentieths of the period, so a queue with many tasks gets 95 % of the rate, less if a claim
    /// takes longer than a twentieth. In a lane, a task counts when it is taken for the first time.
    ///
    /// # Units and ranges
    ///
    /// At least one task, in 100 ms to a day; in a lane at most 1,000. Others are refused.
    pub const fn rate(self, tasks: u32, period: Duration) -> Self {
        Self {
            rate: Some((tasks, period)),
            ..self
        }
    }

    /// Returns how many tasks workers hold at once.
    pub const fn max_concurrency(&self) -> Option<u32> {
        self.concurrency
    }

    /// Returns how many tasks workers may take in a period.
    pub const fn max_rate(&self) -> Option<(u32, Duration)> {
        self.rate
    }

    /// Returns whether there is no limit.
    pub const fn is_none(&self) -> bool {
        self.concurrency.is_none() && self.rate.is_none()
    }

    /// Returns what is wrong with it.
    pub(crate) fn error(&self) -> Option<&'static str> {
        let (tasks, period) = self.rate?;
        if tasks == 0 {
            Some("a rate needs at least 1 task; `concurrency` 0 stops a queue or a lane")
        } else if period < Self::SHORTEST_PERIOD {
            Some(
                "the period of a rate is at least 100ms; give more tasks for a longer period: 10 in 1ms are 1000 in 100ms",
            )
        } else if period > Self::LONGEST_PERIOD {
            Some("the period of a rate is at most a day")
        } else {
            None
        }
    }

    /// Returns what is wrong with it for a lane.
    pub(crate) fn error_of_lane(&self) -> Option<&'static str> {
        let most = Self::MOST_OF_A_LANE;
        if self.concurrency.is_some_and(|tasks| tasks > most) {
            Some("a lane lets at most 1000 tasks run at once; leave the lane out for more")
        } else if self.rate.is_some_and(|(tasks, _)| tasks > most) {
            Some(
                "a lane lets at most 1000 tasks begin in a period; give fewer for a shorter one: 6000 in 1m are 100 in 1s",
            )
        } else {
            self.error()
        }
    }

    /// Reads it from the columns of a store.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn from_columns([concurrency, tasks, period]: [Option<i64>; 3]) -> Self {
        let number = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
        let period = period.map(|period| Time::from_micros(period).since(Time::default()));
        Self {
            concurrency: concurrency.map(number),
            rate: tasks.map(number).zip(period),
        }
    }

    /// Returns it as columns of a store.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn to_columns(self) -> [Option<i64>; 3] {
        let (tasks, period) = self.rate.unzip();
        let period = period.map(|period| Time::default().after(period).as_micros());
        [
            self.concurrency.map(i64::from),
            tasks.map(i64::from),
            period,
        ]
    }
}

/// Writes it as `5 at once, 50 in 1s`, or nothing if there is no limit.
impl fmt::Display for TaskLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tasks) = self.concurrency {
            write!(f, "{tasks} at once")?;
        }
        if let Some((tasks, period)) = self.rate {
            let comma = if self.concurrency.is_some() { ", " } else { "" };
            write!(f, "{comma}{tasks} in {period:?}")?;
        }
        Ok(())
    }
}

/// How many slices of time a period has. The function `retry_room` of PostgreSQL has the same number.
const SLICES: i64 = 20;

/// How many tasks were claimed in each slice of time: by its end, before which they were.
pub(crate) type Spent = BTreeMap<i64, u32>;

/// How many tasks of a queue a claim may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    left: u32,
    taken: u32,
    /// The end of the slice of a rate.
    slice: Option<i64>,
    /// When more may be taken; `MAX` if only the end of a task makes room.
    again: Duration,
}

impl Room {
    /// Returns the room of a queue of which workers hold so many tasks. Forgets slices that do not count
    /// any more.
    pub(crate) fn new(limit: TaskLimit, held: u32, spent: &mut Spent, now: Time) -> Self {
        let left = limit.concurrency.map(|most| most.saturating_sub(held));
        let mut room = Self {
            left: left.unwrap_or(u32::MAX),
            taken: 0,
            slice: None,
            again: Duration::MAX,
        };
        if let Some((tasks, period)) = limit.rate {
            let now = now.as_micros();
            let period = i64::try_from(period.as_micros()).unwrap_or(i64::MAX);
            let width = period.checked_div(SLICES).unwrap_or_default().max(1);
            // A claim counts to the end of its slice. So no period has more tasks than the rate
            // allows, wherever it begins; a full queue gets 19 of 20 parts of the rate.
            let slice = now
                .saturating_sub(now.rem_euclid(width))
                .saturating_add(width);
            // Any period that ends now or later begins after those. The clock may have been set back.
            spent.retain(|end, _| {
                let ago = now.saturating_sub(*end);
                ago < period && ago > period.saturating_neg().saturating_sub(width)
            });
            let sum = spent
                .values()
                .fold(0, |sum: u32, one| sum.saturating_add(*one));
            let next = spent.keys().next().copied().unwrap_or(slice);
            // The oldest slice that counts leaves the period then.
            let again = next.saturating_add(period).saturating_sub(now);
            room.slice = Some(slice);
            let unspent = tasks.saturating_sub(sum);
            // The tighter of both limits says when to look again.
            if unspent <= room.left {
                room.left = unspent;
                room.again = Duration::from_micros(u64::try_from(again).unwrap_or_default());
            }
        }
        room
    }

    /// Returns the end of the present slice and how many tasks were taken, if it has a rate.
    pub(crate) const fn spent(&self) -> Option<(i64, u32)> {
        match self.slice {
            Some(slice) if self.taken > 0 => Some((slice, self.taken)),
            _ => None,
        }
    }
}

/// The queues of a claim that have limits.
#[derive(Debug, Default)]
pub(crate) struct Rooms(BTreeMap<String, Room>);

impl Rooms {
    pub(crate) fn add(&mut self, queue: &str, room: Room) {
        self.0.insert(queue.to_owned(), room);
    }

    /// Returns whether nothing more of a queue may be taken.
    #[cfg(feature = "sqlite")]
    pub(crate) fn is_full(&self, queue: &str) -> bool {
        self.0.get(queue).is_some_and(|room| room.left == 0)
    }

    /// Takes a task, if its queue has room.
    pub(crate) fn take(&mut self, queue: &str) -> bool {
        let Some(room) = self.0.get_mut(queue) else {
            return true;
        };
        let Some(left) = room.left.checked_sub(1) else {
            return false;
        };
        room.left = left;
        room.taken = room.taken.saturating_add(1);
        true
    }

    /// Returns after how long there may be more tasks, if a queue has no room for more now.
    pub(crate) fn again(&self) -> Option<Duration> {
        let full = self.0.values().filter(|room| room.left == 0);
        full.map(|room| room.again).min()
    }

    /// Returns the queues and their rooms.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Room)> {
        self.0.iter().map(|(queue, room)| (&**queue, room))
    }
}
