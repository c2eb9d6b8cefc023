//! What operators read of a task, the same in the program and on its page.

use crate::task::{Direction, State, Task};
use crate::time::Time;

impl Task {
    /// Returns what there is to say of the task, by name, without its arguments, headers and result.
    #[doc(hidden)]
    pub fn facts(&self) -> impl Iterator<Item = (&'static str, String)> {
        let is_due = matches!(self.state, State::Pending | State::Waiting);
        let since = self.continued_at;
        let generation = since.map(|since| format!("{}, since {since}", self.generation));
        let lane = self.lane.as_ref().map(|lane| {
            let turn = if self.waits_for_turn() {
                ", waits for its turn"
            } else {
                ""
            };
            format!("{lane}{turn}")
        });
        let origin = self.origin.as_ref();
        let origin = origin.map(|of| format!("task {}, from step {}", of.task, of.seq));
        let direction = (self.direction != Direction::Forward).then_some(self.direction.as_str());
        let deaths = (self.deaths > 0).then(|| format!("{} of its workers in a row", self.deaths));
        let key_free_at = self.key_free_at();
        let changed = key_free_at.is_none().then_some(self.wake_at);
        [
            (
                "workflow",
                Some(format!("{} {}", self.workflow, self.version)),
            ),
            ("generation", generation),
            ("fork of", origin),
            ("key", Some(self.key.clone())),
            (
                "queue",
                Some(format!("{}, priority {}", self.queue, self.priority)),
            ),
            ("lane", lane),
            ("direction", direction.map(str::to_owned)),
            (
                "failures",
                Some(format!(
                    "{} in a row, at most {}",
                    self.failures, self.max_failures
                )),
            ),
            ("deaths", deaths),
            ("owner", self.owner.as_ref().map(ToString::to_string)),
            ("submitted", Some(self.created_at.to_string())),
            ("changed", changed.map(|at| at.to_string())),
            ("key free at", key_free_at.map(|at| at.to_string())),
            ("wakes", is_due.then(|| self.wake_at.to_string())),
            ("complete by", self.complete_by.map(|by| by.to_string())),
            ("error", self.error.clone()),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
    }

    /// Returns when its key becomes free, if it was pruned.
    #[doc(hidden)]
    pub fn key_free_at(&self) -> Option<Time> {
        (self.state == State::Pruned).then_some(self.updated_at)
    }
}
