//! Lanes: their tasks run one at a time.

use super::Tables;
use crate::task::{Direction, Fence, State, TaskId};
use crate::time::Time;

impl Tables {
    /// Lets a task that has changed enter or leave its lane.
    pub(super) fn keep_lane(&mut self, id: TaskId, now: Time) {
        let Some(task) = self.tasks.get_mut(&id) else {
            return;
        };
        let Some(lane) = task.lane.clone() else {
            return;
        };
        let has_turn = self.turns.get(&lane) == Some(&id);
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
            // Only a task with the turn is ever claimed, and it keeps the turn until it has ended.
            State::Processing | State::Waiting => {}
            state => {
                if let Some(own) = own {
                    self.queued.remove(&own);
                }
                // A parked task keeps its turn.
                if has_turn && state.has_ended() {
                    self.turns.remove(&lane);
                    self.pass_turn(&lane, now);
                }
            }
        }
    }

    /// Lets a task wait for its turn. One that sleeps and has not started lets it pass if it wakes up earlier.
    fn enter_lane(&mut self, lane: &str, id: TaskId, now: Time) {
        let due = self.queue(lane, id);
        let holder = self.turns.get(lane).copied();
        let holder = holder.and_then(|holder| self.tasks.get(&holder));
        // A delay comes before the turn. A task that sleeps and has never run holds nothing that
        // the lane protects, so it lets one pass that is due earlier.
        if let Some(holder) = holder
            && holder.state == State::Pending
            && holder.fence == Fence(0)
            && holder.wake_at > due.max(now)
        {
            let holder = holder.id;
            self.turns.remove(lane);
            self.queue(lane, holder);
        }
        self.pass_turn(lane, now);
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

    /// Gives the turn to the task that wakes up first, if no task has it.
    fn pass_turn(&mut self, lane: &str, now: Time) {
        if self.turns.contains_key(lane) {
            return;
        }
        let mut queued = self
            .queued
            .range((lane.to_owned(), Time::default(), TaskId(0))..);
        let first = queued.next().filter(|(other, ..)| other == lane).cloned();
        let Some(first) = first else { return };
        self.queued.remove(&first);
        let (lane, due, id) = first;
        if let Some(task) = self.tasks.get_mut(&id) {
            // The time of its turn, so that a lane with many old tasks goes before no other lane.
            task.wake_at = due.max(now);
            self.turns.insert(lane, id);
        }
    }
}
