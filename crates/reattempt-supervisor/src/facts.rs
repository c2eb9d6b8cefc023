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
        let direction = (self.direction != Direction::Forward).then_some(self.direction.as_str());
        let deaths = (self.deaths > 0).then(|| format!("{} of its workers in a row", self.deaths));
        let (changed, at) = self.changed();
        [
            (
                "workflow",
                Some(format!("{} {}", self.workflow, self.version)),
            ),
            ("generation", generation),
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
            (changed, Some(at.to_string())),
            ("wakes", is_due.then(|| self.wake_at.to_string())),
            ("complete by", self.complete_by.map(|by| by.to_string())),
            ("error", self.error.clone()),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
    }

    /// Returns what its time of change is called, and the time.
    #[doc(hidden)]
    pub fn changed(&self) -> (&'static str, Time) {
        let name = if self.state == State::Pruned {
            "key free at"
        } else {
            "changed"
        };
        (name, self.updated_at)
    }
}
