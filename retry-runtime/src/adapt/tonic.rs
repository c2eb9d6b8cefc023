//! What the statuses of tonic mean.
