//! A store without a disk: for tests, with tokio's clock, which may stand still. What it holds is gone with it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::{
    Answer, Asked, Change, Claim, Claimed, Fate, Filter, Operation, Outcome, Standing, Steer,
    Store, Sweep, Swept, Told, Wake,
};
use crate::task::{
    Direction, Fence, Hold, Kind, NewRun, Record, Run, RunId, Signal, State, WorkerId,
};
use crate::time::Time;

/// Tasks in the memory of this process.
#[derive(Debug)]
pub struct Memory {
    kept: Mutex<Kept>,
    stored: Notify,
    began: (Instant, Time),
    salt: u64,
}

#[derive(Debug, Default)]
struct Kept {
    runs: BTreeMap<RunId, Run>,
    keys: HashMap<(String, String), RunId>,
    records: BTreeMap<RunId, Vec<Record>>,
    signals: BTreeMap<RunId, Vec<Signal>>,
    leases: BTreeMap<WorkerId, Time>,
    last_run: i64,
    last_signal: i64,
}

impl Memory {
    /// An empty store.
    pub fn new() -> Self {
        Self {
            kept: Mutex::default(),
            stored: Notify::new(),
            began: (Instant::now(), Time::of_this_machine()),
            salt: rand::random(),
        }
    }

    fn now(&self) -> Time {
        let (instant, time) = self.began;
        time.after(instant.elapsed())
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Store for Memory {
    fn write(&self, operations: Arc<[Operation]>) -> Answer<'_, Vec<Outcome>> {
        let now = self.now();
        let outcomes = {
            let mut kept = self.kept();
            let apply = |operation| kept.apply(operation, now);
            operations.iter().cloned().map(apply).collect()
        };
        if operations.iter().any(Operation::may_free) {
            self.stored.notify_waiters();
        }
        Box::pin(async { Ok(outcomes) })
    }

    fn sweep(&self, sweep: Sweep) -> Answer<'_, Vec<Swept>> {
        let now = self.now();
        let swept = self.kept().sweep(&sweep, now);
        Box::pin(async { Ok(swept) })
    }

    fn run(&self, id: RunId) -> Answer<'_, Option<Run>> {
        let run = self.kept().runs.get(&id).cloned();
        Box::pin(async { Ok(run) })
    }

    fn history(&self, id: RunId) -> Answer<'_, Vec<Record>> {
        let records = self.kept().records.get(&id).cloned();
        Box::pin(async { Ok(records.unwrap_or_default()) })
    }

    fn signals(&self, id: RunId) -> Answer<'_, Vec<Signal>> {
        let signals = self.kept().signals.get(&id).cloned();
        Box::pin(async { Ok(signals.unwrap_or_default()) })
    }

    fn list(&self, filter: Filter) -> Answer<'_, Vec<Run>> {
        let fits = |run: &&Run| {
            filter.state.is_none_or(|state| run.state == state)
                && (filter.workflow.as_ref()).is_none_or(|workflow| run.workflow == *workflow)
                && (filter.queue.as_ref()).is_none_or(|queue| run.queue == *queue)
                && filter.before.is_none_or(|before| run.id < before)
        };
        let limit = usize::try_from(filter.bound()).unwrap_or(usize::MAX);
        let kept = self.kept();
        let runs = kept.runs.values().rev().filter(fits).take(limit).cloned();
        let runs = runs.collect();
        Box::pin(async { Ok(runs) })
    }

    fn counts(&self) -> Answer<'_, Vec<(State, u64)>> {
        let mut counts = State::ALL.map(|state| (state, 0));
        for run in self.kept().runs.values() {
            for (state, count) in &mut counts {
                *count = u64::saturating_add(*count, u64::from(*state == run.state));
            }
        }
        let counts = counts.into_iter().filter(|(_, count)| *count > 0).collect();
        Box::pin(async { Ok(counts) })
    }

    fn woken(&self) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.stored.notified())
    }

    fn salt(&self) -> u64 {
        self.salt
    }
}

impl Kept {
    fn apply(&mut self, operation: Operation, now: Time) -> Outcome {
        match operation {
            Operation::Submit(new) => self.submit(*new, now),
            Operation::Claim(claim) => Outcome::Claimed(self.claim(&claim, now)),
            Operation::Record(hold, record) => self.held(hold, now, |kept, _| {
                let records = kept.records.entry(hold.run).or_default();
                let same = |old: &&Record| old.seq == record.seq && old.kind == record.kind;
                if let Some(old) = records.iter().find(same) {
                    return old.fence == hold.fence;
                }
                records.push(Record {
                    at: now,
                    fence: hold.fence,
                    ..*record
                });
                records.sort_by_key(|record| record.ord);
                true
            }),
            Operation::Announce(hold, by) => self.held(hold, now, |_, run| {
                run.step_by = Some(by);
                true
            }),
            Operation::Change(hold, change) => self.held(hold, now, |kept, run| {
                kept.change(run, *change, now);
                true
            }),
            Operation::Beat(worker, lease) => {
                let held = (self.runs.values()).filter(|run| run.owner.as_ref() == Some(&worker));
                let asked = held.map(|run| Asked {
                    run: run.id,
                    cancel: run.cancel_asked,
                    signal: self.newest_signal(run.id),
                });
                let asked = asked
                    .filter(|asked| asked.cancel || asked.signal > 0)
                    .collect();
                self.leases.insert(worker, now.after(lease));
                Outcome::Beaten(asked)
            }
            Operation::Disown(worker, held) => {
                self.free(&worker, &held, now);
                Outcome::Done
            }
            Operation::Leave(worker) => {
                self.free(&worker, &[], now);
                self.leases.remove(&worker);
                Outcome::Done
            }
            Operation::Signal { run, name, payload } => {
                Outcome::Told(self.signal(run, name, payload, now))
            }
            Operation::Steer(run, steer) => Outcome::Told(self.steer(run, steer, now)),
            Operation::Prune(age, limit) => Outcome::Pruned(self.prune(age, limit, now)),
        }
    }

    fn submit(&mut self, new: NewRun, now: Time) -> Outcome {
        let key = (new.workflow.clone(), new.key.clone());
        if let Some(id) = self.keys.get(&key) {
            return Outcome::Submitted {
                id: *id,
                is_new: false,
            };
        }
        self.last_run = self.last_run.saturating_add(1);
        let id = RunId(self.last_run);
        self.keys.insert(key, id);
        let run = Run {
            id,
            workflow: new.workflow,
            version: new.version,
            queue: new.queue,
            priority: new.priority,
            key: new.key,
            state: State::Pending,
            direction: Direction::Forward,
            wake_at: now.after(new.delay),
            complete_by: new.complete_by.map(|limit| now.after(limit)),
            step_by: None,
            owner: None,
            fence: Fence(0),
            failures: 0,
            max_failures: new.max_failures,
            cancel_asked: false,
            input: new.input,
            output: None,
            error: None,
            headers: new.headers,
            created_at: now,
            updated_at: now,
        };
        self.runs.insert(id, run);
        Outcome::Submitted { id, is_new: true }
    }

    fn claim(&mut self, claim: &Claim, now: Time) -> Vec<Claimed> {
        let knows = |run: &Run| {
            let is_run =
                |(name, version): &(String, i32)| *name == run.workflow && *version == run.version;
            claim.workflows.iter().any(is_run)
        };
        let mut ready: Vec<_> = (self.runs.values())
            .filter(|run| matches!(run.state, State::Pending | State::Waiting))
            .filter(|run| run.wake_at <= now && claim.queues.contains(&run.queue) && knows(run))
            .map(|run| (run.priority, run.wake_at, run.id))
            .collect();
        ready.sort_unstable();
        ready.truncate(usize::try_from(claim.limit).unwrap_or(usize::MAX));
        let mut claimed = Vec::new();
        for (_, _, id) in ready {
            let Some(run) = self.runs.get_mut(&id) else {
                continue;
            };
            run.state = State::Processing;
            run.owner = Some(claim.worker.clone());
            run.fence = run.fence.next();
            run.step_by = None;
            run.updated_at = now;
            claimed.push(Claimed {
                run: run.clone(),
                history: self.records.get(&id).cloned().unwrap_or_default(),
                signals: self.signals.get(&id).cloned().unwrap_or_default(),
                now,
            });
        }
        claimed
    }

    /// Something that only the holder may do; `false` from it is as if the task were lost.
    fn held(
        &mut self,
        hold: Hold,
        now: Time,
        write: impl FnOnce(&mut Self, &mut Run) -> bool,
    ) -> Outcome {
        let Some(mut run) = self.runs.get(&hold.run).cloned() else {
            return Outcome::Lost;
        };
        if run.fence != hold.fence || run.state != State::Processing || !write(self, &mut run) {
            return Outcome::Lost;
        }
        let cancel_asked = run.cancel_asked;
        self.runs.insert(hold.run, run);
        Outcome::Held(Standing { now, cancel_asked })
    }

    fn change(&self, run: &mut Run, change: Change, now: Time) {
        run.state = change.state;
        run.direction = change.direction;
        run.failures = change.failures;
        run.output = change.output.or(run.output.take());
        run.error = change.error.or(run.error.take());
        run.step_by = None;
        run.updated_at = now;
        if change.state != State::Processing {
            run.owner = None;
        }
        let is_asked = run.cancel_asked && change.direction == Direction::Forward;
        run.wake_at = match change.wake {
            _ if is_asked => now,
            Wake::In(delay) => now.after(delay),
            Wake::At(_, seen) if self.newest_signal(run.id) > seen => now,
            Wake::At(time, _) => time,
        };
    }

    fn newest_signal(&self, run: RunId) -> i64 {
        let signals = self.signals.get(&run);
        signals.and_then(|all| all.last()).map_or(0, |last| last.id)
    }

    /// Gives back what a worker holds.
    fn free(&mut self, worker: &WorkerId, but: &[RunId], now: Time) {
        for run in self.runs.values_mut() {
            if run.owner.as_ref() == Some(worker) && !but.contains(&run.id) {
                run.state = State::Pending;
                run.owner = None;
                run.step_by = None;
                run.fence = run.fence.next();
                run.wake_at = now;
                run.updated_at = now;
            }
        }
    }

    fn signal(&mut self, id: RunId, name: String, payload: String, now: Time) -> Told {
        let Some(run) = self.runs.get_mut(&id) else {
            return Told::Unknown;
        };
        if run.state.is_final() {
            return Told::Not(run.state);
        }
        if run.state == State::Waiting {
            run.state = State::Pending;
            run.wake_at = now;
            run.updated_at = now;
        }
        self.last_signal = self.last_signal.saturating_add(1);
        let id_of_signal = self.last_signal;
        let signals = self.signals.entry(id).or_default();
        signals.push(Signal {
            id: id_of_signal,
            name,
            payload,
        });
        Told::Yes
    }

    fn steer(&mut self, id: RunId, steer: Steer, now: Time) -> Told {
        let Some(run) = self.runs.get_mut(&id) else {
            return Told::Unknown;
        };
        match (steer, run.state) {
            (Steer::Cancel, State::Processing) => run.cancel_asked = true,
            (Steer::Cancel, State::Pending | State::Waiting) => {
                run.cancel_asked = true;
                run.wake_at = now;
                run.state = if run.fence == Fence(0) {
                    State::Cancelled
                } else {
                    State::Pending
                };
            }
            (Steer::Park(why), State::Pending | State::Waiting | State::Processing) => {
                run.state = State::Parked;
                run.owner = None;
                run.step_by = None;
                run.fence = run.fence.next();
                run.error = Some(why);
            }
            (Steer::Resubmit, State::Parked | State::Error) => {
                if run.state == State::Error {
                    run.direction = Direction::Forward;
                    let records = self.records.entry(id).or_default();
                    let last = records.iter().map(|record| record.ord).max();
                    records.retain(|old| old.kind != Kind::Failed || Some(old.ord) != last);
                } else {
                    // What nobody knew the end of runs again, because somebody looked.
                    let records = self.records.entry(id).or_default();
                    let ended = records.iter().filter(|record| record.kind.is_outcome());
                    let ended: Vec<_> = ended.map(|record| record.seq).collect();
                    let is_open = |old: &Record| {
                        old.kind == Kind::Begun
                            && old.due_at.is_none()
                            && !old.name.starts_with("signal ")
                            && !ended.contains(&old.seq)
                    };
                    records.retain(|old| !is_open(old));
                }
                run.complete_by = run.complete_by.filter(|by| *by > now);
                run.state = State::Pending;
                run.fence = run.fence.next();
                run.failures = 0;
                run.wake_at = now;
            }
            (_, state) => return Told::Not(state),
        }
        run.updated_at = now;
        Told::Yes
    }

    fn prune(&mut self, age: Duration, limit: u32, now: Time) -> u64 {
        let is_old = |run: &&Run| {
            run.state.is_final() && run.state != State::Parked && run.updated_at.after(age) <= now
        };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let old: Vec<_> = (self.runs.values())
            .filter(is_old)
            .map(|run| run.id)
            .take(limit)
            .collect();
        for id in &old {
            if let Some(run) = self.runs.remove(id) {
                self.keys.remove(&(run.workflow, run.key));
            }
            self.records.remove(id);
            self.signals.remove(id);
        }
        u64::try_from(old.len()).unwrap_or(u64::MAX)
    }

    fn sweep(&mut self, sweep: &Sweep, now: Time) -> Vec<Swept> {
        let mut swept = Vec::new();
        let limit = usize::try_from(sweep.limit).unwrap_or(usize::MAX);
        for run in self.runs.values_mut() {
            if swept.len() >= limit {
                break;
            }
            let leases = &self.leases;
            let is_alive = |worker: &WorkerId| leases.get(worker).is_some_and(|until| *until > now);
            let Some(expired) = super::expired(run, now, is_alive) else {
                continue;
            };
            let fate = Fate::of_expired(run, expired, &sweep.delays, rand::random());
            swept.push(Swept::new(run, expired, fate));
            run.state = fate.state;
            run.direction = fate.direction;
            run.failures = fate.failures;
            run.wake_at = now.after(fate.delay);
            run.error = Some(expired.message().to_owned());
            run.owner = None;
            run.step_by = None;
            run.fence = run.fence.next();
            run.updated_at = now;
        }
        self.leases
            .retain(|_, until| until.after(Duration::from_secs(3_600)) > now);
        swept
    }
}
