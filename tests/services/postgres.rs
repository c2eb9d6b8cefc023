//! Transactions on PostgreSQL.
