//! Why a store could not do its work, and whether another attempt may help.

use std::any::Any;
use std::fmt;

use crate::task::TaskId;

/// A store could not do its work.
#[derive(Debug)]
pub struct StoreError {
    kind: ErrorKind,
    message: String,
    task: Option<TaskId>,
    table: Option<String>,
    locked: Vec<TaskId>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Whether an error of a store goes away by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The error may be over soon: there is no connection, or the disk is full.
    Passing,
    /// The store has not answered in time. The error may be over soon.
    TimedOut,
    /// The store has written nothing, because another transaction holds a lock on something that
    /// one of the writes needs. The error may be over soon.
    Locked,
    /// The error stays until its cause is fixed: a corrupted file, a wrong version, a bug.
    Lasting,
}

impl StoreError {
    /// Creates an error that may be over soon.
    pub fn passing(message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Passing,
            message: message.into(),
            task: None,
            table: None,
            locked: Vec::new(),
            source: None,
        }
    }

    /// Creates an error for an answer that did not come in time.
    pub fn timed_out(message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::TimedOut,
            ..Self::passing(message)
        }
    }

    /// Creates an error for a write that waited for a lock of another transaction.
    pub fn locked(message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Locked,
            ..Self::passing(message)
        }
    }

    /// Creates an error that stays until its cause is fixed.
    pub fn lasting(message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Lasting,
            ..Self::passing(message)
        }
    }

    /// Adds the error that caused this one. Its text becomes part of the message.
    #[must_use]
    pub fn because(self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self {
            source: Some(source.into()),
            ..self
        }
    }

    /// Adds the task and the table that the error is about, where they are not known yet.
    #[must_use]
    pub fn about(self, task: Option<TaskId>, table: Option<&str>) -> Self {
        Self {
            task: self.task.or(task),
            table: self.table.or_else(|| table.map(str::to_owned)),
            ..self
        }
    }

    /// Adds the tasks that another transaction has locked.
    #[cfg_attr(
        not(any(test, feature = "postgres")),
        expect(dead_code, reason = "only PostgreSQL knows them")
    )]
    pub(crate) fn with_locked(self, locked: Vec<TaskId>) -> Self {
        Self { locked, ..self }
    }

    /// Returns the tasks that another transaction has locked, as far as they are known.
    pub(crate) fn locked_tasks(&self) -> &[TaskId] {
        &self.locked
    }

    /// Returns the task that the error is about, if it is known.
    pub const fn task(&self) -> Option<TaskId> {
        self.task
    }

    /// Returns the table that the error is about, if it is known.
    pub fn table(&self) -> Option<&str> {
        self.table.as_deref()
    }

    /// Returns whether the error may be over soon, so that another attempt makes sense.
    pub const fn is_passing(&self) -> bool {
        !matches!(self.kind, ErrorKind::Lasting)
    }

    /// Returns whether and how the error goes away.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(task) = self.task {
            write!(f, " (task {task})")?;
        }
        if let Some(table) = &self.table {
            write!(f, " (table `{table}`)")?;
        }
        match &self.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

/// The source is part of the message, so `source()` returns the source of the source.
impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().and_then(|source| source.source())
    }
}

impl reattempt::Classify for StoreError {
    fn classify(&self) -> reattempt::Verdict {
        if self.is_passing() {
            reattempt::Verdict::Transient
        } else {
            reattempt::Verdict::Permanent
        }
    }
}

/// Returns the message of a panic of the application's code.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a value that is not a string")
}
