//! Where claims begin to look. A claimed task leaves a dead entry in the index of `retry_ready`. VACUUM cannot remove
//! it as long as a transaction, such as a dump, keeps an older snapshot. So a process knows a place for each level:
//! when it looked last, nothing before the place was ready. A process that stores a task reports when its transaction
//! began, and the others take their places back to that time. What is not reported, such as the commit of a
//! transaction of an application, is found by whole looks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::store::{Claim, ClaimedTask};
use crate::time::Time;

/// A wake-up time and the number of a task: the order of tasks in their level.
pub(super) type Place = (i64, i64);

/// Before all tasks of a level.
const START: Place = (0, -1);

/// Below and above all priorities.
const PRIORITIES: (i32, i32) = (-32_769, 32_768);

/// How late a transaction of an application may commit where all is done, and elsewhere. Later ones wait for a whole
/// look.
const LATE: [i64; 2] = [1_000_000, 200_000];

/// How often a process looks at everything by itself, if it hears of others and of none that does.
const WHOLE: Duration = Duration::from_secs(5);

/// How often it does so if it cannot hear of others.
const WHOLE_WHEN_DEAF: Duration = Duration::from_millis(500);

/// How long nothing wakes up where no task waits.
const FOREVER: Duration = Duration::from_secs(86_400);

/// Whole looks take at most one of so many parts of the time.
pub(super) const SHARE: u32 = 20;

/// The tasks of one version of a workflow in a queue.
type Kind = (String, String, i32);

/// What the process knows about the tasks of a kind.
#[derive(Debug)]
struct Looked {
    /// When it looks at everything again.
    whole_at: Instant,
    /// Until when none wakes up that the last claim saw.
    quiet_until: Instant,
    /// The place of each priority.
    places: BTreeMap<i16, Place>,
}

#[derive(Debug, Default)]
struct Known {
    kinds: HashMap<Kind, Looked>,
    /// The looks that are under way, and the earliest time that was reported meanwhile.
    looks: BTreeMap<u64, i64>,
    next_look: u64,
    /// Until when another process looks at everything.
    watched_until: Option<Instant>,
    can_hear: bool,
    /// Whether the last claim has seen that there are no suspects.
    has_no_suspects: bool,
}

impl Known {
    /// Takes all places back.
    fn take_back_to(&mut self, to: Place) {
        for place in self
            .kinds
            .values_mut()
            .flat_map(|kind| kind.places.values_mut())
        {
            *place = to.min(*place);
        }
    }
}

/// The places of a process.
#[derive(Debug, Default)]
pub(super) struct Places(Mutex<Known>);

impl Places {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a look.
    pub(super) fn look(&self) -> Look<'_> {
        let mut known = self.lock();
        let number = known.next_look;
        known.next_look = number.wrapping_add(1);
        // A report that comes during the look must not be lost: `found` puts no place behind it.
        known.looks.insert(number, i64::MAX);
        Look {
            places: self,
            number,
            began: Instant::now(),
        }
    }

    /// Notes that a transaction which began at this time has stored tasks.
    pub(super) fn take_back(&self, began: Time) {
        let mut known = self.lock();
        known.take_back_to((began.as_micros(), 0));
        for earliest in known.looks.values_mut() {
            *earliest = began.as_micros().min(*earliest);
        }
    }

    /// Notes the first task of a level, which a process that looks at everything has seen. Returns whether this
    /// process would not have seen it.
    pub(super) fn report_first(&self, level: &Level, first: Place) -> bool {
        let mut known = self.lock();
        for earliest in known.looks.values_mut() {
            *earliest = first.0.min(*earliest);
        }
        let kind = (level.0.clone(), level.1.clone(), level.2);
        let Some(kind) = known.kinds.get_mut(&kind) else {
            return false;
        };
        // A level without a place was not looked at, so the task is news.
        let place = kind.places.entry(level.3).or_insert((i64::MAX, 0));
        let is_news = *place > first;
        *place = first.min(*place);
        is_news
    }

    /// Notes that a process looks at everything, at least once in this time.
    pub(super) fn is_watched_for(&self, time: Duration) {
        self.lock().watched_until = Instant::now().checked_add(time);
    }

    /// Returns whether this process hears of others.
    pub(super) fn can_hear(&self) -> bool {
        self.lock().can_hear
    }

    /// Returns whether there were suspects when this process claimed last.
    pub(super) fn may_have_suspects(&self) -> bool {
        !self.lock().has_no_suspects
    }

    /// Returns until when these tasks need no look, as far as the last claims saw. Other processes report what they
    /// store, and the process that looks at everything finds the rest.
    pub(super) fn quiet_until(&self, claim: &Claim) -> Option<Instant> {
        let known = self.lock();
        let is_watched = known
            .watched_until
            .is_some_and(|until| until > Instant::now());
        if !(known.can_hear && known.has_no_suspects && is_watched) {
            return None;
        }
        let until = |kind| Some(known.kinds.get(&kind)?.quiet_until);
        let all: Option<Vec<_>> = kinds_of(claim).into_iter().map(until).collect();
        all?.into_iter().min()
    }

    /// Sets whether this process hears of others. What they said before is lost.
    pub(super) fn set_can_hear(&self, can_hear: bool) {
        let mut known = self.lock();
        known.can_hear = can_hear;
        known.watched_until = None;
        for kind in known.kinds.values_mut() {
            // Notifications may have been missed, so the next claim looks at everything.
            kind.whole_at = Instant::now();
        }
    }
}

/// The queue, workflow, version and priority of tasks.
pub(super) type Level = (String, String, i32, i16);

/// Where a claim looks.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    /// The places of each kind; none where it looks at everything.
    kinds: Vec<(Kind, BTreeMap<i16, Place>)>,
    /// The columns of the statement, with an item for each place, and for what is before the first.
    queues: Vec<String>,
    workflows: Vec<String>,
    versions: Vec<i32>,
    priorities: Vec<i32>,
    wake_at: Vec<i64>,
    tasks: Vec<i64>,
    /// The next priority that has a place: the claim also looks at all between.
    next: Vec<i32>,
}

impl Ranges {
    pub(super) fn values(&self) -> [&(dyn ToSql + Sync); 7] {
        [
            &self.queues,
            &self.workflows,
            &self.versions,
            &self.priorities,
            &self.wake_at,
            &self.tasks,
            &self.next,
        ]
    }

    fn add(&mut self, kind: Kind, places: BTreeMap<i16, Place>) {
        let own = places.iter();
        let own = own.map(|(priority, place)| (i32::from(*priority), *place));
        let all: Vec<_> = std::iter::once((PRIORITIES.0, START)).chain(own).collect();
        let next = all.iter().skip(1).map(|(priority, _)| *priority);
        for ((priority, (wake_at, task)), next) in all.iter().zip(next.chain([PRIORITIES.1])) {
            self.queues.push(kind.0.clone());
            self.workflows.push(kind.1.clone());
            self.versions.push(kind.2);
            self.priorities.push(*priority);
            self.wake_at.push(*wake_at);
            self.tasks.push(*task);
            self.next.push(next);
        }
        self.kinds.push((kind, places));
    }
}

/// What a claim has seen and not claimed.
#[derive(Debug)]
pub(super) struct Left {
    now: i64,
    /// The first such task of each level; the levels that the process did not know may have none.
    first: HashMap<Level, Option<Place>>,
    /// Whether the claim has seen all tasks that are ready.
    is_all: bool,
    /// When the next task wakes up, if the claim has seen all.
    next: Option<i64>,
    /// Whether there are suspects in any queue.
    has_suspects: bool,
}

impl Left {
    /// Reads the last row of a claim.
    pub(super) fn of(row: &Row) -> Self {
        let queues: Option<Vec<String>> = row.get("queues");
        let workflows: Option<Vec<String>> = row.get("workflows");
        let versions: Option<Vec<i32>> = row.get("versions");
        let priorities: Option<Vec<i32>> = row.get("priorities");
        let places: Option<Vec<Option<i64>>> = row.get("wake_at_first");
        let tasks: Option<Vec<Option<i64>>> = row.get("first");
        let levels = (queues.into_iter().flatten())
            .zip(workflows.into_iter().flatten())
            .zip(versions.into_iter().flatten())
            .zip(priorities.into_iter().flatten());
        let places = (places.into_iter().flatten()).zip(tasks.into_iter().flatten());
        let mut first = HashMap::new();
        for ((((queue, workflow), version), priority), (wake_at, task)) in levels.zip(places) {
            let Ok(priority) = i16::try_from(priority) else {
                continue;
            };
            let kept = first.entry((queue, workflow, version, priority));
            let kept: &mut Option<Place> = kept.or_default();
            *kept = kept.or(wake_at.zip(task));
        }
        Self {
            now: row.get("now"),
            first,
            is_all: row.get("is_all"),
            next: row.get("next"),
            has_suspects: row.get("has_suspects"),
        }
    }
}

impl Left {
    /// Returns until when no task wakes up that the claim could see, by the clock of this process.
    fn quiet_until(&self) -> Instant {
        let now = Instant::now();
        let quiet = match self.next {
            _ if !self.is_all => Duration::ZERO,
            Some(next) => Time::from_micros(next).since(Time::from_micros(self.now)),
            None => FOREVER,
        };
        now.checked_add(quiet).unwrap_or(now)
    }
}

/// A look that is under way.
#[derive(Debug)]
pub(super) struct Look<'a> {
    places: &'a Places,
    number: u64,
    began: Instant,
}

/// Returns the kinds that a worker claims.
fn kinds_of(claim: &Claim) -> BTreeSet<Kind> {
    let queues = claim.queues.iter();
    let kinds = queues.flat_map(|queue| {
        let workflows = claim.workflows.iter();
        workflows.map(|(workflow, version)| (queue.clone(), workflow.clone(), *version))
    });
    kinds.collect()
}

impl Look<'_> {
    /// Returns where a claim looks. It looks at all suspects: they are few.
    pub(super) fn ranges(&self, claim: &Claim) -> Ranges {
        let mut ranges = Ranges::default();
        let known = self.places.lock();
        let is_watched = known.watched_until.is_some_and(|until| until > self.began);
        for kind in kinds_of(claim) {
            let looked = known.kinds.get(&kind);
            // Without a process that looks at everything, this one does so now and then: a late
            // commit is not reported.
            let looked = looked.filter(|looked| is_watched || looked.whole_at > self.began);
            let looked = looked.filter(|_| claim.suspects.is_none());
            let places = looked.map(|looked| looked.places.clone());
            ranges.add(kind, places.unwrap_or_default());
        }
        ranges
    }

    /// Notes what a claim has found where it looked.
    pub(super) fn found(&self, ranges: &Ranges, claimed: &[ClaimedTask], left: &Left) {
        let mut last: HashMap<Level, Place> = HashMap::new();
        for ClaimedTask { task, .. } in claimed {
            let kind = (task.queue.clone(), task.workflow.clone(), task.version);
            let place = last.entry((kind.0, kind.1, kind.2, task.priority));
            let place = place.or_default();
            *place = (task.wake_at.as_micros(), task.id.0).max(*place);
        }
        let mut known = self.places.lock();
        known.has_no_suspects = !left.has_suspects;
        let earliest = known.looks.get(&self.number).copied().unwrap_or(i64::MAX);
        let pause = if known.can_hear {
            WHOLE
        } else {
            WHOLE_WHEN_DEAF
        };
        // Beside an old snapshot a whole look reads all dead entries.
        let pause = pause.max(self.began.elapsed().saturating_mul(SHARE));
        let whole_at = Instant::now().checked_add(pause).unwrap_or(self.began);
        let quiet_until = left.quiet_until();
        for (kind, before) in &ranges.kinds {
            let looked = known.kinds.entry(kind.clone()).or_insert_with(|| Looked {
                whole_at,
                quiet_until,
                places: BTreeMap::new(),
            });
            looked.quiet_until = quiet_until;
            if before.is_empty() {
                looked.whole_at = whole_at;
            }
            let of_kind =
                |level: &&Level| (&level.0, &level.1, level.2) == (&kind.0, &kind.1, kind.2);
            let seen = left.first.keys().chain(last.keys()).filter(of_kind);
            let priorities: BTreeSet<i16> = seen
                .map(|level| level.3)
                .chain(before.keys().copied())
                .collect();
            for priority in priorities {
                let level = (kind.0.clone(), kind.1.clone(), kind.2, priority);
                let before = before.get(&priority).copied().unwrap_or(START);
                let first = left.first.get(&level).copied().flatten();
                // The first task that the claim has seen and left, or the last that it has taken,
                // is where the next one begins.
                let passed = first.or(last.get(&level).copied()).unwrap_or(before);
                let [done, busy] = LATE.map(|late| (left.now.saturating_sub(late), 0));
                // A place stays behind the present, because a transaction may commit tasks that
                // woke up when it began. Most transactions of applications need no whole look that
                // way.
                let place = before.max(busy.min(passed));
                let is_done = first.is_none() && left.is_all;
                let place = if is_done { done.max(place) } else { place };
                // The clock may have been set back.
                let place = place.min((left.now, 0)).min((earliest, 0));
                looked.places.insert(priority, place);
            }
        }
    }
}

impl Drop for Look<'_> {
    fn drop(&mut self) {
        self.places.lock().looks.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::WorkerId;

    const NOW: i64 = 100_000_000;

    fn claim() -> Claim {
        Claim {
            worker: WorkerId("one".to_owned()),
            queues: vec!["default".to_owned()],
            workflows: vec![("plain".to_owned(), 1)],
            limit: 8,
            suspects: None,
        }
    }

    fn level(priority: i16) -> Level {
        ("default".to_owned(), "plain".to_owned(), 1, priority)
    }

    /// What a claim has left that has seen all, with these first tasks.
    fn left(now: i64, first: &[(i16, Option<Place>)]) -> Left {
        let first = first
            .iter()
            .map(|(priority, place)| (level(*priority), *place));
        Left {
            now,
            first: first.collect(),
            is_all: true,
            next: None,
            has_suspects: false,
        }
    }

    /// Returns the priorities at which the next claim begins, and their places.
    fn places(places: &Places) -> Vec<(i32, Place)> {
        let ranges = places.look().ranges(&claim());
        let place = ranges
            .wake_at
            .iter()
            .copied()
            .zip(ranges.tasks.iter().copied());
        ranges.priorities.iter().copied().zip(place).collect()
    }

    fn look_at(places: &Places, left: &Left) {
        let look = places.look();
        let ranges = look.ranges(&claim());
        look.found(&ranges, &[], left);
    }

    #[test]
    fn a_claim_begins_at_the_first_task_that_the_last_one_left() {
        let known = Places::default();
        known.set_can_hear(true);
        let all = (PRIORITIES.0, START);
        assert_eq!(places(&known), [all]);
        look_at(&known, &left(NOW, &[(1, Some((7, 5))), (3, None)]));
        let done = (3, (NOW - LATE[0], 0));
        assert_eq!(places(&known), [all, (1, (7, 5)), done]);
        // It looks at what is between them, too.
        assert_eq!(known.look().ranges(&claim()).next, [1, 3, PRIORITIES.1]);
        // A transaction that began earlier may commit later.
        look_at(&known, &left(NOW, &[(5, Some((NOW, 9)))]));
        assert_eq!(places(&known)[3], (5, (NOW - LATE[1], 0)));
        // A clock that was set back.
        look_at(&known, &left(5, &[]));
        assert_eq!(places(&known), [all, (1, (5, 0)), (3, (5, 0)), (5, (5, 0))]);
    }

    #[test]
    fn nobody_looks_before_the_next_task_wakes_up_if_others_report() {
        let known = Places::default();
        let quiet = || {
            let until = known.quiet_until(&claim())?;
            Some(until.saturating_duration_since(Instant::now()))
        };
        let waits = |next| Left {
            next,
            ..left(NOW, &[(0, None)])
        };
        assert_eq!(quiet(), None);
        known.set_can_hear(true);
        known.is_watched_for(WHOLE);
        // It has not looked.
        assert_eq!(quiet(), None);
        look_at(&known, &waits(Some(NOW + 3_000_000)));
        let about = |seconds| {
            let seconds = Duration::from_secs(seconds);
            move |time: Duration| time <= seconds && time > seconds.mul_f32(0.9)
        };
        assert!(quiet().is_some_and(about(3)), "{:?}", quiet());
        look_at(&known, &waits(None));
        assert!(quiet().is_some_and(about(FOREVER.as_secs())));
        // It has not seen all.
        look_at(
            &known,
            &Left {
                is_all: false,
                ..waits(None)
            },
        );
        assert_eq!(quiet(), Some(Duration::ZERO));
        look_at(
            &known,
            &Left {
                has_suspects: true,
                ..waits(None)
            },
        );
        assert_eq!(quiet(), None);
        look_at(&known, &waits(None));
        known.is_watched_for(Duration::ZERO);
        assert_eq!(quiet(), None);
        known.is_watched_for(WHOLE);
        known.set_can_hear(false);
        assert_eq!(quiet(), None);
    }

    #[test]
    fn what_is_reported_takes_places_back_also_while_a_claim_looks() {
        let known = Places::default();
        known.set_can_hear(true);
        look_at(&known, &left(NOW, &[(0, None)]));
        known.take_back(Time::from_micros(40));
        assert_eq!(places(&known)[1], (0, (40, 0)));
        let look = known.look();
        let ranges = look.ranges(&claim());
        known.take_back(Time::from_micros(30));
        look.found(&ranges, &[], &left(NOW, &[]));
        assert_eq!(places(&known)[1], (0, (30, 0)));
        look_at(&known, &left(NOW, &[]));
        assert!(known.report_first(&level(0), (20, 4)));
        assert!(!known.report_first(&level(0), (20, 4)));
        assert_eq!(places(&known)[1], (0, (20, 4)));
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_hears_of_nobody_that_looks_at_everything_does_it() {
        let known = Places::default();
        for (can_hear, pause) in [(true, WHOLE), (false, WHOLE_WHEN_DEAF)] {
            known.set_can_hear(can_hear);
            look_at(&known, &left(NOW, &[(0, None)]));
            tokio::time::advance(pause / 2).await;
            assert_eq!(places(&known).len(), 2);
            tokio::time::advance(pause / 2).await;
            assert_eq!(places(&known).len(), 1);
        }
        known.is_watched_for(WHOLE * 3);
        tokio::time::advance(WHOLE * 2).await;
        assert_eq!(places(&known).len(), 2);
    }
}
