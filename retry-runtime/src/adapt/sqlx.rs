//! What the errors of sqlx mean.
