//! Lanes: as many of their tasks run at once as their limit allows, one without it.

use std::collections::BTreeMap;

use super::Tables;
use crate::store::TaskLimit;
use crate::store::lane_limits::{Rate, is_of, limit_of};
use crate::task::{Direction, Fence, State, Task, TaskId};
use crate::time::Time;

/// The turn of a task.
#[derive(Debug)]
pub(super) struct Turn {
    /// It does not begin earlier.
    at: Time,
    /// Whether it counts for the rate of its lane when it begins.
    is_counted: bool,
}

impl Tables {
    /// Lets a task that has changed enter or leave its lane.
    pub(super) fn keep_lane(&mut self, id: TaskId, now: Time) {
        let Some(task) = self.tasks.get_mut(&id) else {
            return;
        };
        let Some(lane) = task.lane.clone() else {
            return;
        };
        let turns = self.turns.get(&lane);
        let has_turn = turns.is_some_and(|turns| turns.contains_key(&id));
        let own = if has_turn {
            None
        } else {
            let from = (lane.clone(), Time::default(), TaskId(0));
            // The lines are in the order of their lanes, so the search ends where the next lane
            // begins.
            let mut queued = self.queued.range(from..);
            let own = queued.find(|(other, _, task)| *other != lane || *task == id);
            own.filter(|(other, ..)| *other == lane).cloned()
        };
        match task.state {
            State::Pending if has_turn => {}
            State::Pending => match own {
                Some(_) if task.wake_at == Time::NO_TURN => {}
                Some(own) => {
                    self.queued.remove(&own);
                    if task.direction != Direction::Forward && task.fence <= Fence(1) {
                        // It has never started and is late, so it has nothing to undo and does not wait.
                        task.lane = None;
                        return;
                    }
                    self.queued.insert((lane, task.wake_at, id));
                    task.wake_at = Time::NO_TURN;
                }
                None => self.enter_lane(&lane, id, now),
            },
            // Only a task with a turn is ever claimed, and it keeps the turn until it has ended.
            State::Processing | State::Waiting => {}
            state => {
                if let Some(own) = own {
                    self.queued.remove(&own);
                }
                // A parked task keeps its turn.
                if has_turn && state.has_ended() {
                    self.leave_lane(&lane, id);
                    self.open_lane(&lane, now);
                }
            }
        }
    }

    /// Lets a task wait for its turn. One that sleeps and has not started lets it pass if it wakes up earlier.
    fn enter_lane(&mut self, lane: &str, id: TaskId, now: Time) {
        let due = self.queue(lane, id);
        self.open_lane(lane, now);
        if !self.tasks.get(&id).is_some_and(Task::waits_for_turn) {
            return;
        }
        // A delay comes before the turn. A task that sleeps and has never run holds nothing that
        // the lane protects, so it lets one pass that is due earlier.
        let turns = self.turns.get(lane).into_iter().flatten();
        let sleeping = turns.filter_map(|(holder, turn)| {
            let holder = self.tasks.get(holder)?;
            let sleeps = holder.state == State::Pending
                && holder.fence == Fence(0)
                && holder.wake_at > due.max(now).max(turn.at);
            sleeps.then_some((holder.wake_at, holder.id))
        });
        if let Some((_, holder)) = sleeping.max() {
            self.leave_lane(lane, holder);
            self.queue(lane, holder);
            self.open_lane(lane, now);
        }
    }

    /// Lets a task wait. Returns when it would wake up otherwise.
    fn queue(&mut self, lane: &str, id: TaskId) -> Time {
        let Some(task) = self.tasks.get_mut(&id) else {
            return Time::NO_TURN;
        };
        let due = std::mem::replace(&mut task.wake_at, Time::NO_TURN);
        self.queued.insert((lane.to_owned(), due, id));
        due
    }

    fn leave_lane(&mut self, lane: &str, id: TaskId) {
        if let Some(turns) = self.turns.get_mut(lane) {
            turns.remove(&id);
            if turns.is_empty() {
                self.turns.remove(lane);
            }
        }
    }

    /// Gives a turn to the task that wakes up first, if the limit of the lane allows one more. Returns whether it
    /// does.
    fn open_lane(&mut self, lane: &str, now: Time) -> bool {
        let limit = limit_of(&self.lane_limits, lane);
        let turns = self.turns.get(lane);
        let count = turns.map_or(0, BTreeMap::len);
        let most = limit.max_concurrency().unwrap_or(1);
        if u32::try_from(count).is_ok_and(|count| count >= most) {
            return false;
        }
        let at = match limit.max_rate() {
            Some(rate) => {
                let is_unbegun = |turn: &&Turn| turn.is_counted;
                let unbegun = turns.into_iter().flat_map(|turns| turns.values());
                let of_lane = Rate {
                    unbegun: unbegun.filter(is_unbegun).count(),
                    begun: self.begun.get(lane).map_or(&[], Vec::as_slice),
                };
                match of_lane.next(rate, now) {
                    Some(at) => at,
                    None => return false,
                }
            }
            None => now,
        };
        let from = (lane.to_owned(), Time::default(), TaskId(0));
        let first = self.queued.range(from..).next().cloned();
        let Some(first) = first.filter(|(other, ..)| other == lane) else {
            return false;
        };
        self.queued.remove(&first);
        let (lane, due, id) = first;
        if let Some(task) = self.tasks.get_mut(&id) {
            // The time of its turn, so that a lane with many old tasks goes before no other lane.
            task.wake_at = due.max(at);
            let is_counted = limit.max_rate().is_some();
            let turns = self.turns.entry(lane).or_default();
            turns.insert(id, Turn { at, is_counted });
        }
        true
    }

    /// Counts a task that has been claimed for the rate of its lane, if it has just begun.
    pub(super) fn begin_in_lane(&mut self, task: &Task, now: Time) {
        let Some(lane) = &task.lane else { return };
        let turns = self.turns.get_mut(lane);
        let Some(turn) = turns.and_then(|turns| turns.get_mut(&task.id)) else {
            return;
        };
        if std::mem::take(&mut turn.is_counted) {
            let limit = limit_of(&self.lane_limits, lane);
            if let Some((_, period)) = limit.max_rate() {
                let begun = self.begun.entry(lane.clone()).or_default();
                begun.retain(|at| at.after(period) > now);
                begun.push(now);
            }
            self.open_lane(lane, now);
        }
    }

    /// Sets the limit of lanes.
    pub(super) fn limit_lanes(&mut self, pattern: String, limit: TaskLimit, now: Time) {
        let waiting = self.queued.iter().map(|(lane, ..)| lane);
        let mut lanes: Vec<_> = waiting
            .filter(|lane| is_of(&pattern, lane))
            .cloned()
            .collect();
        lanes.dedup();
        if limit.is_none() {
            self.lane_limits.remove(&pattern);
        } else {
            self.lane_limits.insert(pattern, limit);
        }
        for lane in lanes {
            while self.open_lane(&lane, now) {}
        }
    }
}
