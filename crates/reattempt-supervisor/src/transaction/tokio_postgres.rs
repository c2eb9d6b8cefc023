//! Transactions of `tokio-postgres`, and of pools that return its clients.

use tokio_postgres::{Error, Transaction as PostgresTransaction};

use super::Transaction;

impl Transaction for PostgresTransaction<'_> {
    type Error = Error;

    async fn query_text(&mut self, sql: &'static str, text: String) -> Result<String, Error> {
        self.query_one(sql, &[&text]).await?.try_get(0)
    }

    async fn commit(self) -> Result<(), Error> {
        PostgresTransaction::commit(self).await
    }

    fn sqlstate(error: &Error) -> Option<String> {
        error.code().map(|code| code.code().to_owned())
    }
}
