//! Transactions of your application, in the database of the store: a step that happens exactly once
//! with what it writes, and tasks that exist if and only if your transaction is committed.
//!
//! A step with `#[step(transaction)]` ends with [`Step::commit`](crate::Step::commit), and
//! [`Client::submit_in`](crate::Client::submit_in) submits a task. Both take a [`Transaction`] of your
//! pool, not one of the store: a transaction of `tokio-postgres`, or of `sqlx` 0.9 with the feature
//! `sqlx09`. The pool must have the `search_path` of the store.
//! [`Client::check_database`](crate::Client::check_database) tells you at the start whether it is the
//! same database; each call checks it again.
//!
//! # Other drivers
//!
//! Implement [`Transaction`], or call the SQL functions yourself. They take one text:
//!
//! ```text
//! -- The text of `Client::submission_text(submission)`; returns JSON with the `id` of the task.
//! SELECT retry_submit($1)
//! -- The last statement before COMMIT, with `PendingCommit::text` of `Step::record(value)`.
//! SELECT retry_record($1)
//! ```
//!
//! With a driver that blocks its thread, such as diesel:
//!
//! ```ignore
//! #[step(transaction)]
//! async fn book(step: &Arc<Step>, #[with] pool: &Pool, seat: i32) -> Result<Committed<i64>, Error> {
//!     let (step, pool) = (Arc::clone(step), pool.clone());
//!     let booking = move || {
//!         let mut connection = pool.get()?;
//!         let pending = connection.transaction(|connection| {
//!             let id = insert_into(booking::table).values(..).returning(booking::id).get_result(connection)?;
//!             let pending = step.record(id)?;
//!             sql_query("SELECT retry_record($1)").bind::<Text, _>(pending.text()).execute(connection)?;
//!             Ok(pending)
//!         })?;
//!         Ok(pending.succeeded())
//!     };
//!     spawn_blocking(booking).await?
//! }
//! ```
//!
//! # Guarantees
//!
//! `retry_record` fails if the task has changed hands, so that your transaction is rolled back. It checks your
//! deferred constraints first: they may wait for other transactions, and no worker should wait for the task
//! meanwhile. It locks the task until the end of the transaction. Until then no worker can claim the task. A
//! worker that claims it afterwards finds the record, or raises the fence before a late transaction can
//! record. So a step runs again only if it was rolled back. If the answer to `COMMIT` is lost, the task fails
//! once (`max_failures` counts it) and runs again with a new fence; then the record decides. Between
//! `retry_record` and `COMMIT` PostgreSQL waits for two seconds at most, and a statement ends after as long. A
//! step that has ended cannot record its result any more, whatever code of it still runs.

#[cfg(feature = "sqlx09")]
mod sqlx;
mod tokio_postgres;

/// The SQL of the functions, with one text as parameter.
pub(crate) const CHECK: &str = "SELECT retry_check_database($1)";
pub(crate) const SUBMIT: &str = "SELECT retry_submit($1)";
pub(crate) const RECORD: &str = "SELECT retry_record($1)";

/// Limits the statements of a transaction, and the time between them.
pub(crate) const LIMIT: &str = "SELECT set_config('statement_timeout', $1, true) || set_config('idle_in_transaction_session_timeout', $1, true)";

/// A transaction of a driver for PostgreSQL. If it is dropped, it is rolled back.
pub trait Transaction: Send {
    /// The error of the driver.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Runs a statement with one parameter, a text, and returns the text in its only row.
    fn query_text(
        &mut self,
        sql: &'static str,
        text: String,
    ) -> impl Future<Output = Result<String, Self::Error>> + Send;

    /// Commits the transaction. It must not be nested in another one.
    fn commit(self) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Returns the SQLSTATE of an error that the server has returned; `None` for all other errors, such
    /// as a lost connection.
    fn sqlstate(error: &Self::Error) -> Option<String>;
}

/// What an error of `retry_record` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Another worker may hold the task.
    Lost,
    /// Another transaction of the same worker has recorded the step.
    Recorded,
    /// The transaction cannot record the step at all.
    Never(&'static str),
}

/// Returns why `retry_record` has refused; `None` if the error is one of the database.
pub(crate) fn refusal(sqlstate: Option<&str>) -> Option<Refusal> {
    Some(match sqlstate? {
        "RS001" => Refusal::Lost,
        "RS004" => Refusal::Recorded,
        "RS003" => Refusal::Never("its transaction is not in the database of the store"),
        "RS005" => Refusal::Never("its transaction is nested in another one"),
        "42883" => Refusal::Never(
            "its transaction finds no function `retry_record`: it is not in the database of the store, or has another `search_path`",
        ),
        _ => return None,
    })
}

/// Returns whether an error of `COMMIT` says that the transaction is rolled back.
pub(crate) fn is_rolled_back(sqlstate: Option<&str>) -> bool {
    // The server may be stopped after the commit and before its answer.
    let unknown = ["08", "40003", "57P", "58", "XX"];
    sqlstate.is_some_and(|code| !unknown.iter().any(|start| code.starts_with(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_of_the_server_says_that_a_commit_failed() {
        for code in ["23505", "40001", "40P01", "P0001", "25P03"] {
            assert!(is_rolled_back(Some(code)), "{code}");
        }
        for code in [
            None,
            Some("08006"),
            Some("40003"),
            Some("57P01"),
            Some("XX000"),
        ] {
            assert!(!is_rolled_back(code), "{code:?}");
        }
    }
}
