//! Tests of code that retries, without waiting: virtual time, seeds, a record of
//! what was retried, scripted faults.
//!
//! All of it concerns the thread that asked for it, and lasts as long as its guard.

mod attempts;
mod diff;
mod fault_plan;
mod record;
mod script;
mod seed;
mod time;

pub use attempts::{AttemptEnd, CallEnd, RecordedAttempt, RecordedCall};
pub use fault_plan::FaultPlan;
pub use record::{Record, record};
pub use seed::{Seeded, seed};
pub use time::{VirtualTime, virtual_time};

pub(crate) use record::note;
pub(crate) use time::sleep;
