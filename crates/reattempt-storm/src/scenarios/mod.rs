//! The situations of the figures, one a file.

pub mod contention;
pub mod metastable;
pub mod outage;
pub mod throttling;
pub mod tiers;
