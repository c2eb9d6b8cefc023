//! A store without a disk, for tests. It uses the clock of tokio, which a test may pause.

mod children;
mod commands;
mod feed;
mod forks;
mod generations;
mod lanes;
mod retention;
mod schedules;
mod sweeps;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::lane_limits::LaneLimits;
use super::next_state::SUSPECT_DEATHS;
use super::outage::Sweeps;
use super::task_limit::{Room, Rooms, Spent};
use super::unknown::OldestTasks;
use super::{
    Change, Claim, ClaimedTask, Counts, FeedCursor, FeedPage, Filter, HeldTask, LeaseStatus,
    QueueStatus, Reclaimed, Salt, Schedules, SignalResult, Store, StoreFuture, StoredSchedule,
    Submitted, Sweep, TaskLimit, UnknownWorkflow, Wake, Write, WriteResult,
};
use crate::task::{
    CHILD_ENDED, Direction, FailingStep, Lease, NewTask, OperatorNote, Record, RecordKind,
    RunningStep, Signal, State, Task, TaskId, WorkerId,
};
use crate::time::Time;
use feed::Feed;
use lanes::Turn;

/// Keeps tasks in the memory of this process, for tests.
#[derive(Debug)]
pub struct Memory {
    // One lock for all tables makes a list of writes a transaction.
    tables: Mutex<Tables>,
    stored: Notify,
    /// Notified when tasks end.
    ended: Notify,
    start: (Instant, Time),
    salt: Salt,
}

#[derive(Debug, Default)]
struct Tables {
    tasks: BTreeMap<TaskId, Task>,
    keys: HashMap<(String, String), TaskId>,
    records: BTreeMap<TaskId, Vec<Record>>,
    failing: BTreeMap<TaskId, Vec<FailingStep>>,
    notes: BTreeMap<TaskId, Vec<OperatorNote>>,
    signals: BTreeMap<TaskId, Vec<Signal>>,
    running: BTreeMap<(TaskId, i32), RunningStep>,
    /// The parents of the children.
    parents: BTreeMap<TaskId, TaskId>,
    /// The children that have not ended.
    unended: BTreeSet<TaskId>,
    /// How many children must end before a waiting task goes on.
    awaits: BTreeMap<TaskId, u32>,
    /// Whether a task has gone on because its children have ended, and no worker was notified yet.
    has_woken_a_parent: bool,
    /// The random bits of the signals.
    nonces: BTreeSet<(TaskId, i64)>,
    /// When the lease of each worker ends, and how long it is.
    leases: BTreeMap<WorkerId, (Time, Duration)>,
    schedules: BTreeMap<String, StoredSchedule>,
    /// The limits of queues, and what was spent of their rates.
    limits: BTreeMap<String, (TaskLimit, Spent)>,
    lane_limits: LaneLimits,
    /// The tasks that have the turn in each lane.
    turns: BTreeMap<String, BTreeMap<TaskId, Turn>>,
    /// When the last tasks of lanes with a rate have begun.
    begun: BTreeMap<String, Vec<Time>>,
    /// The tasks that wait for their turn: their lanes, and when they would wake up otherwise.
    queued: BTreeSet<(String, Time, TaskId)>,
    sweeps: Sweeps,
    feed: Feed,
    /// Whether a task has ended, and no reader was notified yet.
    has_ended: bool,
    last_task: i64,
    last_signal: i64,
}

impl Memory {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self {
            tables: Mutex::default(),
            stored: Notify::new(),
            ended: Notify::new(),
            start: (Instant::now(), Time::of_this_machine()),
            salt: Salt::random(),
        }
    }

    fn now(&self) -> Time {
        let (instant, time) = self.start;
        time.after(instant.elapsed())
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notifies readers of the feed if tasks have ended.
    fn report_ends(&self, mut tables: MutexGuard<'_, Tables>) {
        let has_ended = std::mem::take(&mut tables.has_ended);
        drop(tables);
        if has_ended {
            self.ended.notify_waiters();
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Store for Memory {
    fn write(&self, writes: Arc<[Write]>) -> StoreFuture<'_, Vec<WriteResult>> {
        let now = self.now();
        let (results, has_woken_a_parent) = {
            let mut tables = self.tables();
            let apply = |write| tables.apply(write, now);
            let results = writes.iter().cloned().map(apply).collect();
            let has_woken_a_parent = std::mem::take(&mut tables.has_woken_a_parent);
            self.report_ends(tables);
            (results, has_woken_a_parent)
        };
        if has_woken_a_parent || writes.iter().any(Write::may_add_work) {
            self.stored.notify_waiters();
        }
        Box::pin(async { Ok(results) })
    }

    fn heartbeat(
        &self,
        worker: WorkerId,
        lease: Duration,
        _: Option<Vec<TaskId>>,
    ) -> StoreFuture<'_, Vec<HeldTask>> {
        let now = self.now();
        let held = self.tables().heartbeat(worker, lease, now);
        Box::pin(async { Ok(held) })
    }

    fn sweep(&self, sweep: Sweep) -> StoreFuture<'_, Vec<Reclaimed>> {
        let now = self.now();
        let mut tables = self.tables();
        let reclaimed = tables.sweep(&sweep, now);
        self.report_ends(tables);
        Box::pin(async { Ok(reclaimed) })
    }

    fn task(&self, id: TaskId) -> StoreFuture<'_, Option<Task>> {
        let task = self.tables().tasks.get(&id).cloned();
        Box::pin(async { Ok(task) })
    }

    fn history(&self, id: TaskId) -> StoreFuture<'_, Vec<Record>> {
        let records = self.tables().records.get(&id).cloned();
        Box::pin(async { Ok(records.unwrap_or_default()) })
    }

    fn failures(&self, id: TaskId) -> StoreFuture<'_, Vec<FailingStep>> {
        let failing = self.tables().failing.get(&id).cloned();
        Box::pin(async { Ok(failing.unwrap_or_default()) })
    }

    fn running(&self, id: TaskId) -> StoreFuture<'_, Vec<RunningStep>> {
        let running = self.tables().running_steps(id);
        Box::pin(async { Ok(running) })
    }

    fn notes(&self, id: TaskId) -> StoreFuture<'_, Vec<OperatorNote>> {
        let notes = self.tables().notes.get(&id).cloned();
        Box::pin(async { Ok(notes.unwrap_or_default()) })
    }

    fn signals(&self, id: TaskId) -> StoreFuture<'_, Vec<Signal>> {
        let signals = self.tables().signals.get(&id).cloned();
        Box::pin(async { Ok(signals.unwrap_or_default()) })
    }

    fn list(&self, filter: Filter) -> StoreFuture<'_, Vec<Task>> {
        let limit = usize::try_from(filter.bound()).unwrap_or(usize::MAX);
        let tables = self.tables();
        let tasks = tables
            .tasks
            .values()
            .rev()
            .filter(|task| filter.fits(task))
            .take(limit)
            .cloned();
        let tasks = tasks.collect();
        Box::pin(async { Ok(tasks) })
    }

    fn counts(&self) -> StoreFuture<'_, Vec<(State, u64)>> {
        let mut counts = State::ALL.map(|state| (state, 0));
        for task in self.tables().tasks.values() {
            for (state, count) in &mut counts {
                *count = u64::saturating_add(*count, u64::from(*state == task.state));
            }
        }
        let counts = counts.into_iter().filter(|(_, count)| *count > 0).collect();
        Box::pin(async { Ok(counts) })
    }

    fn queues(&self) -> StoreFuture<'_, Vec<QueueStatus>> {
        let now = self.now();
        let tables = self.tables();
        let limited = tables.limits.iter().map(|(queue, (limit, _))| {
            let status = QueueStatus::empty(queue.clone());
            let limit = *limit;
            (queue.clone(), QueueStatus { limit, ..status })
        });
        let mut queues: BTreeMap<String, QueueStatus> = limited.collect();
        for task in tables.tasks.values() {
            let is_due = is_ready(task) && task.wake_at <= now;
            if !is_due && !matches!(task.state, State::Processing | State::Parked) {
                continue;
            }
            let new = || QueueStatus::empty(task.queue.clone());
            let status = queues.entry(task.queue.clone()).or_insert_with(new);
            let count = match task.state {
                State::Processing => &mut status.in_flight,
                State::Parked => &mut status.parked,
                _ => &mut status.pending,
            };
            *count = count.saturating_add(1);
            if is_due {
                status.oldest = status.oldest.max(now.since(task.wake_at));
            }
        }
        let queues = queues.into_values().take(QueueStatus::LIMIT).collect();
        Box::pin(async { Ok(queues) })
    }

    fn lane_limits(&self) -> StoreFuture<'_, LaneLimits> {
        let limits = self.tables().lane_limits.clone();
        Box::pin(async { Ok(limits) })
    }

    fn unknown_workflows(
        &self,
        queues: Vec<String>,
        known: Vec<(String, i32)>,
        waited: Duration,
    ) -> StoreFuture<'_, Vec<UnknownWorkflow>> {
        let mut oldest = OldestTasks::new(&known);
        for task in self.tables().tasks.values() {
            if is_ready(task) && task.deaths < SUSPECT_DEATHS && queues.contains(&task.queue) {
                oldest.add(&task.queue, &task.workflow, task.version, task.wake_at);
            }
        }
        let unknown = oldest.waiting(self.now(), waited);
        Box::pin(async { Ok(unknown) })
    }

    fn schedules(&self, due: Option<u32>) -> StoreFuture<'_, Schedules> {
        let schedules = self.tables().schedules(due, self.now());
        Box::pin(async { Ok(schedules) })
    }

    fn read_feed(&self, reader: String, limit: u32, _: bool) -> StoreFuture<'_, FeedPage> {
        let page = self.tables().feed.read(reader, limit);
        Box::pin(async { Ok(page) })
    }

    fn move_reader(&self, reader: String, to: FeedCursor, reported: u64) -> StoreFuture<'_, bool> {
        let has_moved = self.tables().feed.move_reader(&reader, to, reported);
        Box::pin(async move { Ok(has_moved) })
    }

    fn wait_for_ends(&self) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.ended.notified())
    }

    fn wait_for_work(&self) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.stored.notified())
    }

    fn salt(&self) -> Salt {
        self.salt
    }
}

/// Returns whether a worker can take the task, at its wake-up time.
const fn is_ready(task: &Task) -> bool {
    matches!(task.state, State::Pending | State::Waiting)
}

impl Tables {
    /// Returns the steps of a task that its worker runs.
    fn running_steps(&self, id: TaskId) -> Vec<RunningStep> {
        let task = self.tasks.get(&id);
        let lines = self.running.range((id, i32::MIN)..=(id, i32::MAX));
        let steps = lines.map(|(_, step)| step);
        let steps = steps.filter(|step| task.is_some_and(|task| task.holds(step.fence)));
        steps.cloned().collect()
    }

    /// Carries out one write.
    fn apply(&mut self, write: Write, now: Time) -> WriteResult {
        let task = write.task();
        let result = self.apply_to_task(write, now);
        if let Some(task) = task {
            self.follow(task, now);
        }
        result
    }

    /// Follows a change of a task, as the triggers of the databases do.
    fn follow(&mut self, task: TaskId, now: Time) {
        self.has_ended |= self.feed_end(task);
        self.tell_parent(task, now);
        self.keep_lane(task, now);
    }

    fn apply_to_task(&mut self, write: Write, now: Time) -> WriteResult {
        match write {
            Write::Submit(new) => self.submit(*new, now),
            Write::Fork(fork) => self.fork(*fork, now),
            Write::Claim(claim) => self.claim(&claim, now),
            Write::Record(lease, record) => {
                self.write_held(lease, now, |tables, _| tables.record(lease, *record, now))
            }
            Write::Start(lease, record, new) => self.start(lease, *record, *new, now),
            Write::EndChildren {
                lease,
                children,
                undo,
            } => self.end_children(lease, &children, undo, now),
            Write::Running { started, ended } => {
                for step in started {
                    let task = self.tasks.get(&step.task);
                    if task.is_some_and(|task| task.holds(step.fence)) {
                        self.running.insert((step.task, step.seq), step);
                    }
                }
                for (lease, seq) in ended {
                    let is_it = |step: &RunningStep| step.fence == lease.fence;
                    if self.running.get(&(lease.task, seq)).is_some_and(is_it) {
                        self.running.remove(&(lease.task, seq));
                    }
                }
                WriteResult::Done
            }
            Write::Change(lease, change) if self.has_changed(lease, &change) => {
                WriteResult::Written(LeaseStatus {
                    now,
                    cancel_requested: (self.tasks.get(&lease.task))
                        .is_some_and(|task| task.cancel_requested),
                })
            }
            Write::ClearDeaths(lease) => self.write_held(lease, now, |_, task| {
                task.deaths = 0;
                true
            }),
            Write::Change(lease, change) => self.write_held(lease, now, |tables, task| {
                tables.change(task, *change, now);
                true
            }),
            Write::Continue(lease, next) => self.continue_as_new(lease, *next, now),
            Write::GiveBack(leases) => {
                self.give_back(now, |task| {
                    let Task { id, fence, .. } = *task;
                    leases.contains(&Lease { task: id, fence })
                });
                WriteResult::Done
            }
            Write::Leave(worker) => {
                self.give_back(now, |task| task.owner.as_ref() == Some(&worker));
                self.leases.remove(&worker);
                WriteResult::Done
            }
            Write::Signal {
                task,
                name,
                payload,
                nonce,
            } => {
                // A sender repeats a signal of unknown outcome with the same bits. Those of a
                // refused signal go again, because nothing was stored.
                let is_new = self.nonces.insert((task, nonce));
                let result = if is_new {
                    self.signal(task, name, payload, now)
                } else {
                    SignalResult::Accepted
                };
                if result != SignalResult::Accepted {
                    self.nonces.remove(&(task, nonce));
                }
                WriteResult::Signaled(result)
            }
            Write::Admin(task, command) => {
                WriteResult::Signaled(self.apply_command(task, command, now))
            }
            Write::Schedule(write) => WriteResult::Scheduled(self.store_schedule(*write, now)),
            Write::LimitQueue(queue, limit) if limit.is_none() => {
                self.limits.remove(&queue);
                WriteResult::Done
            }
            Write::LimitQueue(queue, limit) => {
                self.limits.entry(queue).or_default().0 = limit;
                WriteResult::Done
            }
            Write::LimitLanes(pattern, limit) => {
                self.limit_lanes(pattern, limit, now);
                WriteResult::Done
            }
            Write::Prune(retention, limit) => {
                WriteResult::Pruned(self.prune(retention, limit, now))
            }
            Write::PruneFeed(age, limit) => {
                WriteResult::Pruned(self.feed.prune(now.before(age), limit))
            }
        }
    }

    /// Adds a record. Returns `false` if there is one of another worker.
    fn record(&mut self, lease: Lease, record: Record, now: Time) -> bool {
        if record.kind != RecordKind::Begun {
            self.running.remove(&(lease.task, record.seq));
        }
        if let Some(old) = self.find_record(lease.task, &record) {
            // Under the same fence this worker has written it before without knowing. Under another
            // one a later write of a lost worker must not count.
            return old.fence == lease.fence;
        }
        let records = self.records.entry(lease.task).or_default();
        records.push(Record {
            at: now,
            fence: lease.fence,
            ..record
        });
        records.sort_by_key(|record| record.ord);
        true
    }

    /// Returns the record of the same call and kind.
    fn find_record(&self, task: TaskId, new: &Record) -> Option<&Record> {
        let same = |old: &&Record| old.seq == new.seq && old.kind == new.kind;
        self.records.get(&task)?.iter().find(same)
    }

    /// Renews a lease. Returns the tasks of the worker.
    fn heartbeat(&mut self, worker: WorkerId, lease: Duration, now: Time) -> Vec<HeldTask> {
        let held = (self.tasks.values()).filter(|task| task.owner.as_ref() == Some(&worker));
        let held = held.map(|task| HeldTask {
            lease: Lease {
                task: task.id,
                fence: task.fence,
            },
            cancel: task.cancel_requested,
            signal: self.newest_signal(task.id),
        });
        let held = held.collect();
        self.leases.insert(worker, (now.after(lease), lease));
        held
    }

    /// Stores a task, unless its key is taken.
    fn submit(&mut self, new: NewTask, now: Time) -> WriteResult {
        let key = (new.workflow.clone(), new.key.clone());
        let earlier = self.keys.get(&key).and_then(|id| self.tasks.get(id));
        let freed = earlier
            .filter(|task| task.has_free_key(now))
            .map(|task| (task.id, task.next_incarnation(now)));
        // Before the bound of the queue: a task that is there needs no room.
        if let (Some(task), None) = (earlier, freed) {
            let earlier = Submitted::earlier(task.id, task.version_of_input(), &task.input, &new);
            return WriteResult::Submitted(earlier);
        }
        if (new.max_pending).is_some_and(|max| self.count_pending(&new.queue, now) >= max) {
            return WriteResult::QueueFull;
        }
        if let Some((line, _)) = freed {
            self.tasks.remove(&line);
        }
        let incarnation = freed.map_or(0, |(_, incarnation)| incarnation);
        self.last_task = self.last_task.saturating_add(1);
        let id = TaskId(self.last_task);
        self.keys.insert(key, id);
        let task = Task {
            incarnation,
            ..Task::new(id, new, now)
        };
        self.tasks.insert(id, task);
        self.keep_lane(id, now);
        WriteResult::Submitted(Submitted::new(id))
    }

    /// Counts the tasks of a queue that could run and wait for a worker. Suspects do not count.
    fn count_pending(&self, queue: &str, now: Time) -> u32 {
        let pending = (self.tasks.values())
            .filter(|task| is_ready(task) && task.deaths < SUSPECT_DEATHS)
            .filter(|task| task.queue == queue && (task.wake_at <= now || task.waits_for_turn()));
        u32::try_from(pending.count()).unwrap_or(u32::MAX)
    }

    /// Claims the tasks that are ready.
    fn claim(&mut self, claim: &Claim, now: Time) -> WriteResult {
        let is_known = |task: &Task| {
            let is_run = |(name, version): &(String, i32)| {
                *name == task.workflow && *version == task.version
            };
            claim.workflows.iter().any(is_run)
        };
        let mut ready: Vec<_> = (self.tasks.values())
            .filter(|task| is_ready(task))
            .filter(|task| {
                (task.deaths >= SUSPECT_DEATHS) == claim.suspects.is_some()
                    && task.wake_at.after(claim.suspects.unwrap_or_default()) <= now
                    && claim.queues.contains(&task.queue)
                    && is_known(task)
            })
            .map(|task| (task.priority, task.wake_at, task.id))
            .collect();
        ready.sort_unstable();
        let mut rooms = self.rooms(&claim.queues, now);
        let most = usize::try_from(claim.limit).unwrap_or(usize::MAX);
        let mut claimed = Vec::new();
        for (_, _, id) in ready {
            let Some(task) = self.tasks.get_mut(&id) else {
                continue;
            };
            // In this order: `take` spends room of the queue.
            if claimed.len() == most || !rooms.take(&task.queue) {
                continue;
            }
            task.state = State::Processing;
            task.owner = Some(claim.worker.clone());
            task.fence = task.fence.next();
            task.step_by = None;
            task.updated_at = now;
            claimed.push(ClaimedTask {
                task: task.clone(),
                has_signals: self.signals.get(&id).is_some_and(|all| !all.is_empty()),
                now,
            });
        }
        // Only claimed tasks count for the rate, so this comes after the claim.
        for (queue, room) in rooms.iter() {
            if let Some((slice, taken)) = room.spent()
                && let Some((_, spent)) = self.limits.get_mut(queue)
            {
                let tasks = spent.entry(slice).or_default();
                *tasks = tasks.saturating_add(taken);
            }
        }
        for one in &claimed {
            self.begin_in_lane(&one.task, now);
        }
        WriteResult::Claimed(claimed, rooms.again())
    }

    /// Returns the rooms of queues that have limits.
    fn rooms(&mut self, queues: &[String], now: Time) -> Rooms {
        let mut rooms = Rooms::default();
        for queue in queues {
            let Some((limit, spent)) = self.limits.get_mut(queue) else {
                continue;
            };
            let is_held = |task: &&Task| task.state == State::Processing && task.queue == *queue;
            let held = self.tasks.values().filter(is_held).count();
            let held = u32::try_from(held).unwrap_or(u32::MAX);
            rooms.add(queue, Room::new(*limit, held, spent, now));
        }
        rooms
    }

    /// Carries out a write that only the owner may make. If `write` returns `false`, the task
    /// counts as lost.
    fn write_held(
        &mut self,
        lease: Lease,
        now: Time,
        write: impl FnOnce(&mut Self, &mut Task) -> bool,
    ) -> WriteResult {
        // A copy, so that `write` may change all tables.
        let Some(mut task) = self.tasks.get(&lease.task).cloned() else {
            return WriteResult::Lost;
        };
        if task.fence != lease.fence || task.state != State::Processing || !write(self, &mut task) {
            return WriteResult::Lost;
        }
        let cancel_requested = task.cancel_requested;
        self.tasks.insert(lease.task, task);
        WriteResult::Written(LeaseStatus {
            now,
            cancel_requested,
        })
    }

    /// Returns whether the task has changed so already: a writer that does not know repeats it.
    fn has_changed(&self, lease: Lease, change: &Change) -> bool {
        self.tasks.get(&lease.task).is_some_and(|task| {
            // A signal may have woken the waiting task since.
            let is_woken = (change.state, task.state) == (State::Waiting, State::Pending);
            task.fence == lease.fence
                && task.state != State::Processing
                && (task.state == change.state || is_woken)
                && (task.direction, task.failures) == (change.direction, change.counts.failures)
                && (change.output.is_none() || change.output == task.output)
                && (change.error.is_none() || change.error == task.error)
        })
    }

    /// Sets the state of a task.
    fn change(&mut self, task: &mut Task, change: Change, now: Time) {
        task.state = change.state;
        task.direction = change.direction;
        set_counts(task, change.counts);
        task.output = change.output.or(task.output.take());
        task.error = change.error.or(task.error.take());
        task.failed_seq = change.failed_seq.or(task.failed_seq);
        task.step_by = None;
        task.updated_at = now;
        if change.state != State::Processing {
            task.owner = None;
            self.running.retain(|(id, _), _| *id != task.id);
        }
        if let Some(step) = change.failing_step {
            keep_failure(self.failing.entry(task.id).or_default(), step, now);
        }
        // A cancel that came after the worker's last look must not wait for the timer.
        let must_cancel = task.cancel_requested && change.direction == Direction::Forward;
        self.awaits.remove(&task.id);
        if let Wake::Children { seen, ends, .. } = change.wake {
            let new = self.signals_after(task.id, seen).count();
            // Children may have ended since the worker looked.
            let left = ends.saturating_sub(u32::try_from(new).unwrap_or(u32::MAX));
            self.awaits.insert(task.id, left);
        }
        task.wake_at = match change.wake {
            _ if must_cancel => now,
            Wake::In(delay) => now.after(delay),
            Wake::At(_, seen) | Wake::Children { seen, .. } if self.has_signal(task.id, seen) => {
                now
            }
            Wake::Children { .. } if self.awaits.get(&task.id) == Some(&0) => now,
            Wake::At(at, _) | Wake::Children { at, .. } => at,
        };
    }

    fn signals_after(&self, task: TaskId, seen: i64) -> impl Iterator<Item = &Signal> {
        let signals = self.signals.get(&task).into_iter().flatten();
        signals.filter(move |signal| signal.id > seen)
    }

    /// Returns whether the task has a newer signal.
    fn has_signal(&self, task: TaskId, seen: i64) -> bool {
        (self.signals_after(task, seen)).any(|signal| signal.name != CHILD_ENDED)
    }

    fn newest_signal(&self, task: TaskId) -> i64 {
        let signals = self.signals.get(&task);
        signals.and_then(|all| all.last()).map_or(0, |last| last.id)
    }

    /// Gives back the tasks of a worker, except these.
    fn give_back(&mut self, now: Time, is_wanted: impl Fn(&Task) -> bool) {
        for task in self.tasks.values_mut() {
            if task.state == State::Processing && is_wanted(task) {
                task.state = State::Pending;
                task.owner = None;
                task.step_by = None;
                task.fence = task.fence.next();
                task.wake_at = now;
                task.updated_at = now;
            }
        }
    }
}

/// Lets workers claim a task that had failed.
fn restart(task: &mut Task, now: Time) {
    task.state = State::Pending;
    task.fence = task.fence.next();
    set_counts(task, Counts::NONE);
    task.wake_at = now;
}

/// Keeps how often a step has failed.
fn keep_failure(failing: &mut Vec<FailingStep>, step: FailingStep, now: Time) {
    failing.retain(|other| (other.direction, other.seq) != (step.direction, step.seq));
    failing.push(FailingStep { at: now, ..step });
    failing.sort_by_key(|step| (step.direction.number(), step.seq));
}

fn set_counts(task: &mut Task, counts: Counts) {
    task.failures = counts.failures;
    task.deaths = counts.deaths;
    task.failed_ord = counts.failed_ord;
}
