//! Transactions on SQLite.
