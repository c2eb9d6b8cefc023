//! The commands of operators who say who they are and why.

use crate::client::{Client, SubmitError};
use crate::store::{AdminCommand, Write};
use crate::task::TaskId;

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

impl Operator {
    /// Ends a task as [`Client::cancel`] does.
    ///
    /// # Errors
    ///
    /// Fails if there is no such task, if it has ended, or if the store has an error.
    pub async fn cancel(&self, task: TaskId) -> Result<(), SubmitError> {
        self.send(task, AdminCommand::Cancel).await
    }

    /// Sets a task aside as [`Client::park`] does, for the reason of the operator.
    ///
    /// # Errors
    ///
    /// Fails if there is no such task, if it has ended, or if the store has an error.
    pub async fn park(&self, task: TaskId) -> Result<(), SubmitError> {
        self.send(task, AdminCommand::Park(self.why.clone())).await
    }

    /// Continues a task as [`Client::resubmit`] does.
    ///
    /// # Errors
    ///
    /// Fails if there is no such task, if it has not failed, or if the store has an error.
    pub async fn resubmit(&self, task: TaskId) -> Result<(), SubmitError> {
        self.send(task, AdminCommand::Resubmit).await
    }

    /// Undoes the steps of a task as [`Client::undo`] does.
    ///
    /// # Errors
    ///
    /// Fails if there is no such task, if it has not failed, or if the store has an error.
    pub async fn undo(&self, task: TaskId) -> Result<(), SubmitError> {
        self.send(task, AdminCommand::Undo).await
    }

    async fn send(&self, task: TaskId, command: AdminCommand) -> Result<(), SubmitError> {
        let signed = AdminCommand::Signed {
            command: Box::new(command),
            by: self.by.clone(),
            why: self.why.clone(),
        };
        self.client.send_to(task, Write::Admin(task, signed)).await
    }
}
