//! Forks: which records of a task another one begins with.

use crate::task::{
    Direction, FailingStep, Fence, NewTask, OperatorNote, Origin, Record, RecordKind, Task,
};

/// A fork of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fork {
    /// The task to store.
    pub new: NewTask,
    /// Where it comes from.
    pub origin: Origin,
    /// The fence of the original: its history has not changed since it was read.
    pub fence: Fence,
    /// Who forks it, and why. The store sets the time.
    pub note: Option<OperatorNote>,
}

impl Fork {
    /// Returns the fork of a task with these records and failures, from a step on and with a key.
    /// The random numbers of the original begin at `seed`: recorded arguments may depend on them,
    /// so the copied part keeps them, as it keeps the times.
    ///
    /// # Errors
    ///
    /// Fails with a message if the task has no such step, or if it has undone an earlier one.
    pub(crate) fn of(
        original: &Task,
        (history, failures): (&[Record], &[FailingStep]),
        (seq, key): (i32, String),
        seed: u64,
    ) -> Result<Self, String> {
        let id = original.id;
        let own = history.iter().filter(|record| record.seq == seq);
        let is_failing =
            |step: &FailingStep| (step.direction, step.seq) == (Direction::Forward, seq);
        // A step that was given up after too many failures has no record, nor has one that ran when the task was
        // cancelled or its time was over: then it is the next one.
        let has_failed = original.failed_seq == Some(seq) || failures.iter().any(is_failing);
        let last = history.iter().map(|record| record.seq).max();
        let is_next = seq == last.map_or(0, |last| last.saturating_add(1));
        if own.clone().next().is_none() && !has_failed && !is_next {
            return Err(format!(
                "task {id} has no step {seq}; `show` lists its steps"
            ));
        }
        // In the order of the record: that is what the workflow had got when it got the outcome of the step, so a
        // replay comes to that point. In the order of the calls, what another branch of a `join!` had done would run
        // again.
        let end = own.clone().find(|record| record.kind.is_outcome());
        let copied = |record: &&Record| {
            record.kind.is_outcome() && end.is_none_or(|end| record.ord < end.ord)
        };
        let copied = history.iter().filter(copied);
        let is_undone = |copy: &&Record| {
            let mut others = history.iter();
            others.any(|other| other.seq == copy.seq && other.kind == RecordKind::Undone)
        };
        let undone = copied.clone().filter(is_undone);
        if let Some(Record {
            seq: first, name, ..
        }) = undone.min_by_key(|record| record.ord)
        {
            return Err(format!(
                "task {id} has undone step {first} `{name}`, and the fork would go on as if that were still done: fork it from step {first}, \
                 or from an earlier one"
            ));
        }
        let last_call = copied.clone().map(|record| record.seq).max();
        let last_call = last_call.map_or(seq, |last| last.max(seq));
        let inherited = original.copies().into_iter().flat_map(|of| &of.seeds);
        let inherited = inherited.map(|(to, seed)| (last_call.min(*to), *seed));
        Ok(Self {
            new: original.submission(key),
            origin: Origin {
                task: id,
                seq,
                ord: copied.map(|record| record.ord).max().unwrap_or(-1),
                began: original.began(),
                seeds: inherited.chain([(last_call, seed)]).collect(),
            },
            fence: original.fence,
            note: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::TaskId;
    use crate::task::{State, processing_task};
    use crate::time::Time;

    fn record(seq: i32, kind: RecordKind, ord: i32) -> Record {
        Record {
            seq,
            kind,
            ord,
            name: format!("step {seq}"),
            attempts: 1,
            result: None,
            error: None,
            due_at: None,
            at: Time::default(),
            fence: Fence(1),
            args_hash: None,
            args: None,
            undo: None,
        }
    }

    /// Two branches: the calls 0 and 3 on one, and 1 and 2 on the other, which is faster. The call 4 has begun.
    fn history() -> Vec<Record> {
        use RecordKind::{Begun, Done, Failed};
        vec![
            record(0, Begun, 0),
            record(1, Done, 1),
            record(2, Failed, 2),
            record(0, Done, 3),
            record(4, Begun, 4),
            record(3, Done, 5),
        ]
    }

    fn original() -> Task {
        Task {
            state: State::Error,
            ..processing_task()
        }
    }

    /// Returns the place of the last copy, and the last call that has a random number of the original.
    fn place_of(seq: i32, history: &[Record]) -> Result<(i32, i32), String> {
        let fork = Fork::of(&original(), (history, &[]), (seq, "fork".to_owned()), 7)?;
        let [(last_call, 7)] = fork.origin.seeds[..] else {
            return Err(format!("{fork:?}"));
        };
        Ok((fork.origin.ord, last_call))
    }

    #[test]
    fn a_fork_has_the_outcomes_that_were_recorded_before_that_of_the_step() {
        for (seq, place) in [
            (1, (-1, 1)),
            (2, (1, 2)),
            (0, (2, 2)),
            (3, (3, 3)),
            // It has no outcome, so nothing came after it.
            (4, (5, 4)),
            (5, (5, 5)),
        ] {
            assert_eq!(place_of(seq, &history()), Ok(place), "from step {seq}");
        }
        assert_eq!(place_of(0, &[]), Ok((-1, 0)));
    }

    #[test]
    fn a_step_without_a_record_is_one_if_it_has_failed() {
        let fork = |task: &Task, failures: &[FailingStep]| {
            let fork = Fork::of(task, (&history(), failures), (9, "fork".to_owned()), 7);
            fork.map(|fork| fork.origin.ord)
        };
        let unknown = fork(&original(), &[]);
        assert_eq!(
            unknown,
            Err("task 1 has no step 9; `show` lists its steps".to_owned())
        );
        let failed = Task {
            failed_seq: Some(9),
            ..original()
        };
        assert_eq!(fork(&failed, &[]), Ok(5));
        let mut failing = FailingStep {
            direction: Direction::Forward,
            seq: 9,
            failures: 1,
            error: String::new(),
            at: Time::default(),
        };
        assert_eq!(fork(&original(), std::slice::from_ref(&failing)), Ok(5));
        failing.direction = Direction::Undoing;
        assert_eq!(fork(&original(), &[failing]), unknown);
    }

    #[test]
    fn a_step_that_was_undone_is_no_part_of_a_fork() {
        let mut history = history();
        history.push(record(0, RecordKind::Undone, 6));
        history.push(record(1, RecordKind::Undone, 7));
        for seq in [2, 0, 3, 4] {
            let error = place_of(seq, &history);
            assert!(error.is_err_and(|error| error.contains("undone step 1 `step 1`")));
        }
        assert_eq!(place_of(1, &history), Ok((-1, 1)));
    }

    #[test]
    fn a_fork_of_a_fork_has_the_random_numbers_of_both() {
        let origin = Origin {
            task: TaskId(5),
            seq: 1,
            ord: 1,
            began: Time::from_micros(3),
            seeds: vec![(1, 8), (2, 9)],
        };
        let task = Task {
            origin: Some(origin),
            ..original()
        };
        let origin = |task: &Task, seq| {
            let fork = Fork::of(task, (&history(), &[]), (seq, "fork".to_owned()), 7);
            fork.map(|fork| (fork.origin.seeds, fork.origin.began.as_micros()))
        };
        assert_eq!(origin(&task, 3), Ok((vec![(1, 8), (2, 9), (3, 7)], 3)));
        assert_eq!(origin(&task, 1), Ok((vec![(1, 8), (1, 9), (1, 7)], 3)));
        let continued = Task {
            generation: 1,
            continued_at: Some(Time::from_micros(4)),
            ..task
        };
        assert_eq!(origin(&continued, 3), Ok((vec![(3, 7)], 4)));
    }
}
