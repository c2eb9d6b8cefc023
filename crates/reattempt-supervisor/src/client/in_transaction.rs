//! Submissions in a transaction of the application.

use std::sync::Arc;

use super::{Client, SubmitError};
use crate::store::submission::Submission;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
use crate::store::{Submitted, submission::check_arguments};
use crate::task::NewTask;
use crate::workflow::Workflow;

impl Client {
    /// Returns the task of a submission that a store may keep, and whether it is strict.
    pub(super) fn new_task<W: Workflow>(
        &self,
        submission: Submission<W>,
    ) -> Result<(NewTask, bool), SubmitError> {
        let is_strict = submission.is_strict();
        let new = submission.into_new_task().map_err(Arc::new)?;
        self.check_size(&format!("the input of `{}`", new.workflow), &new.input)?;
        let headers = new.headers.as_deref().unwrap_or_default();
        self.check_size(&format!("the headers of `{}`", new.workflow), headers)?;
        Ok((new, is_strict))
    }

    /// Stores a task in a transaction of your application, on its own connection to the file of the
    /// store. The task exists if and only if the transaction is committed. Schedulers find it at
    /// their next look.
    ///
    /// # Errors
    ///
    /// Fails as [`submit`](Self::submit) does, or if the connection is one to another file; then you
    /// can go on with the transaction.
    #[cfg(feature = "sqlite")]
    pub fn submit_in_sqlite<W: Workflow>(
        &self,
        transaction: &rusqlite::Connection,
        submission: Submission<W>,
    ) -> Result<Submitted, SubmitError> {
        let (new, is_strict) = self.new_task(submission)?;
        let (salt, codec) = (self.store().salt(), self.store().codec());
        let submitted =
            crate::store::sqlite::Sqlite::submit(transaction, salt, &new, codec.as_ref());
        let submitted = submitted.and_then(|submitted| check_arguments(submitted, is_strict));
        Ok(submitted.map_err(Arc::new)?)
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::check_arguments;
    use super::{Arc, Client, NewTask, Submission, SubmitError, Submitted, Workflow};
    use crate::store::postgres::error_of_state;
    use crate::store::{SharedCodec, StoreError};
    use crate::task::TaskId;
    use crate::transaction::{CHECK, SUBMIT, Transaction};

    /// What `retry_submit` reads.
    #[derive(serde::Serialize)]
    struct Text<'a> {
        store: i64,
        #[serde(flatten)]
        new: &'a NewTask,
    }

    impl Client {
        /// Stores a task in a transaction of your application, in the database of the store. The task
        /// exists if and only if the transaction is committed. Schedulers find it at their next look.
        ///
        /// # Errors
        ///
        /// Fails as [`submit`](Self::submit) does, or if the transaction is not in the database of the
        /// store. If PostgreSQL fails, you can only roll back the transaction.
        pub async fn submit_in<W: Workflow>(
            &self,
            transaction: &mut impl Transaction,
            submission: Submission<W>,
        ) -> Result<Submitted, SubmitError> {
            let (new, is_strict) = self.new_task(submission)?;
            let answer = call(transaction, SUBMIT, self.text_of(&new)?).await?;
            let codec = self.store().codec();
            let submitted = submitted_of(&answer, &new, codec.as_ref())
                .and_then(|submitted| check_arguments(submitted, is_strict));
            Ok(submitted.map_err(Arc::new)?)
        }

        /// Returns the text of a submission for `SELECT retry_submit($1)` in a transaction of your
        /// application, for drivers without an adapter: see [`transaction`](crate::transaction).
        ///
        /// # Errors
        ///
        /// Fails as [`submit`](Self::submit) does, without the store.
        pub fn submission_text<W: Workflow>(
            &self,
            submission: Submission<W>,
        ) -> Result<String, SubmitError> {
            let (new, _) = self.new_task(submission)?;
            self.text_of(&new)
        }

        /// Checks that a transaction of your pool is in the database of the store. Call it when your
        /// program starts.
        ///
        /// # Errors
        ///
        /// Fails if it is another database, or has another `search_path`, or if PostgreSQL fails.
        pub async fn check_database(
            &self,
            transaction: &mut impl Transaction,
        ) -> Result<(), SubmitError> {
            let store = self.store().salt().store_id();
            call(transaction, CHECK, store.to_string()).await.map(drop)
        }

        fn text_of(&self, new: &NewTask) -> Result<String, SubmitError> {
            let encoded = self.store().codec().map(|codec| codec.encode_task(new));
            let encoded = encoded.transpose().map_err(Arc::new)?;
            let new = encoded.as_ref().unwrap_or(new);
            let text = Text {
                store: self.store().salt().store_id(),
                new,
            };
            Ok(serde_json::json!(text).to_string())
        }
    }

    /// Calls one of the functions, and explains its errors.
    async fn call<X: Transaction>(
        transaction: &mut X,
        sql: &'static str,
        text: String,
    ) -> Result<String, SubmitError> {
        let answer = transaction.query_text(sql, text).await;
        Ok(answer.map_err(|error| {
            let details = details(&error);
            Arc::new(match X::sqlstate(&error) {
                Some(code) => error_of_state(&code, details.into()),
                None => StoreError::passing("the transaction has no answer").because(details),
            })
        })?)
    }

    /// Returns the texts of an error and its sources: that of `tokio-postgres` says only `db error` itself.
    fn details(error: &dyn std::error::Error) -> String {
        let sources = std::iter::successors(error.source(), |source| source.source());
        let mut text = error.to_string();
        for source in sources.map(ToString::to_string) {
            if !text.contains(&source) {
                text = [&text, ": ", &source].concat();
            }
        }
        text
    }

    /// Reads the answer of `retry_submit`.
    fn submitted_of(
        answer: &str,
        new: &NewTask,
        codec: Option<&SharedCodec>,
    ) -> Result<Submitted, StoreError> {
        #[derive(serde::Deserialize)]
        struct Answer {
            id: i64,
            version: Option<i32>,
            input: Option<String>,
        }
        let Answer { id, version, input } = serde_json::from_str(answer)
            .map_err(|error| StoreError::lasting("`retry_submit`").because(error))?;
        let id = TaskId(id);
        Ok(match input {
            Some(mut input) => {
                if let Some(codec) = codec {
                    input = codec.decode(input);
                }
                Submitted::earlier(id, version, &input, new)
            }
            None => Submitted::new(id),
        })
    }
}
