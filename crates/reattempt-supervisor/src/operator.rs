//! The commands of operators, with their names and reasons.

use tokio::task::JoinSet;

use crate::client::{Client, SubmitError, TaskHandle};
use crate::store::commands::commands;
use crate::store::{AdminCommand, Filter, Write};
use crate::task::{OperatorNote, TaskId};
use crate::time::Time;

/// How many tasks a command by filter may have.
const MOST: u64 = 10_000;

/// How many tasks are read, and get the command, at the same time.
const AT_ONCE: u32 = 100;

/// Gives commands in the name of an operator. With each command that a task takes, the store keeps an
/// [`OperatorNote`](crate::OperatorNote). [`Client::operator`] makes one.
#[derive(Debug, Clone)]
pub struct Operator {
    pub(crate) client: Client,
    pub(crate) by: String,
    pub(crate) why: String,
}

impl Client {
    /// Returns the commands of an operator, with the reason for them.
    ///
    /// ```
    /// # async fn cancel(client: reattempt_supervisor::Client, task: reattempt_supervisor::TaskId) -> Result<(), reattempt_supervisor::SubmitError> {
    /// client.operator("Ada", "the customer called").cancel(task).await
    /// # }
    /// ```
    pub fn operator(&self, by: impl Into<String>, why: impl Into<String>) -> Operator {
        Operator {
            client: self.clone(),
            by: by.into(),
            why: why.into(),
        }
    }
}

macro_rules! methods {
    ($($(#[doc = $doc:literal])* $command:ident $(($why:ty))? $method:ident $name:literal $done:literal $states:tt;)*) => {
        impl Operator {
            $(
                $(#[doc = $doc])*
                ///
                /// # Errors
                ///
                /// Fails if there is no such task, if its state does not allow the command, or if the store has an error.
                pub async fn $method(&self, task: TaskId) -> Result<(), SubmitError> {
                    let command = AdminCommand::$command $((<$why>::from(&self.why)))?;
                    self.send(task, &command).await
                }
            )*
        }
    };
}

commands!(methods);

impl Operator {
    /// Stores a fork of a task as [`Client::fork`] does. The note is one of the fork.
    ///
    /// # Errors
    ///
    /// Fails as [`Client::fork`] does.
    pub async fn fork<T>(
        &self,
        task: TaskId,
        step: i32,
        key: impl Into<String>,
    ) -> Result<TaskHandle<T>, SubmitError> {
        let note = OperatorNote {
            seq: None,
            verdict: "fork".to_owned(),
            by: self.by.clone(),
            why: self.why.clone(),
            at: Time::default(),
        };
        let fork = self
            .client
            .fork_with_note(task, (step, key.into()), Some(note));
        fork.await
    }

    /// Returns how many tasks fit a filter, whatever its limit: the dry run of
    /// [`send_to_all`](Self::send_to_all).
    ///
    /// # Errors
    ///
    /// Fails if more than 10,000 fit, or if the store has an error.
    pub async fn count(&self, filter: &Filter) -> Result<u64, SubmitError> {
        let fit = self.fitting(filter).await?;
        Ok(u64::try_from(fit.len()).unwrap_or(u64::MAX))
    }

    /// Gives a command to all tasks that fit a filter, whatever its limit, if they are as many as
    /// [`count`](Self::count) has shown. Returns the tasks that did not take it.
    ///
    /// # Errors
    ///
    /// Fails before any task has the command if another number of tasks fits. Fails also if the store has
    /// an error; then some tasks may have it.
    pub async fn send_to_all(
        &self,
        filter: &Filter,
        command: &AdminCommand,
        expect: u64,
    ) -> Result<Vec<SubmitError>, SubmitError> {
        let fit = self.fitting(filter).await?;
        let found = u64::try_from(fit.len()).unwrap_or(u64::MAX);
        // A filter may fit other tasks than in the dry run. A task that changes from here on
        // refuses the command by its own state.
        if found != expect {
            return Err(SubmitError::NotExpected(format!(
                "{found} tasks fit, and {expect} were expected; count them again"
            )));
        }
        let at_once = usize::try_from(AT_ONCE).unwrap_or(1);
        let mut refused = Vec::new();
        let mut left = fit.into_iter();
        let mut sent = JoinSet::new();
        loop {
            for task in left.by_ref().take(at_once.saturating_sub(sent.len())) {
                let (this, command) = (self.clone(), command.clone());
                sent.spawn(async move { this.send(task, &command).await });
            }
            match sent.join_next().await {
                Some(Ok(Ok(()))) => {}
                Some(Ok(Err(error @ SubmitError::Store(_)))) => return Err(error),
                Some(Ok(Err(error))) => refused.push(error),
                // The runtime ends.
                Some(Err(_)) | None => break,
            }
        }
        Ok(refused)
    }

    /// Returns the tasks that fit a filter, the newest first.
    async fn fitting(&self, filter: &Filter) -> Result<Vec<TaskId>, SubmitError> {
        let mut fit: Vec<TaskId> = Vec::new();
        loop {
            let page = Filter {
                before: fit.last().copied().or(filter.before),
                limit: AT_ONCE,
                ..filter.clone()
            };
            let tasks = self.client.list(page).await?;
            let is_last = u32::try_from(tasks.len()).is_ok_and(|count| count < AT_ONCE);
            fit.extend(tasks.iter().map(|task| task.id));
            if u64::try_from(fit.len()).is_ok_and(|count| count > MOST) {
                return Err(SubmitError::NotExpected(format!(
                    "more than {MOST} tasks fit; narrow the filter"
                )));
            }
            if is_last {
                return Ok(fit);
            }
        }
    }

    /// Gives a task a command.
    ///
    /// # Errors
    ///
    /// Fails if there is no such task, if its state does not allow the command, or if the store has an
    /// error.
    pub async fn send(&self, task: TaskId, command: &AdminCommand) -> Result<(), SubmitError> {
        let signed = AdminCommand::Signed {
            command: Box::new(command.clone()),
            by: self.by.clone(),
            why: self.why.clone(),
        };
        self.client.send_to(task, Write::Admin(task, signed)).await
    }
}
