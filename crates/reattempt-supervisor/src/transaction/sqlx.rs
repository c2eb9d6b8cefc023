//! Transactions of `sqlx` 0.9.

use sqlx::{Error, PgTransaction};

use super::Transaction;

impl Transaction for PgTransaction<'_> {
    type Error = Error;

    async fn query_text(&mut self, sql: &'static str, text: String) -> Result<String, Error> {
        let query = sqlx::query_scalar(sql).bind(text);
        query.fetch_one(&mut **self).await
    }

    async fn commit(self) -> Result<(), Error> {
        PgTransaction::commit(self).await
    }

    fn sqlstate(error: &Error) -> Option<String> {
        let code = error.as_database_error()?.code()?;
        Some(code.into_owned())
    }
}
