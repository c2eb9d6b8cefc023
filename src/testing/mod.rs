#![cfg_attr(not(doctest), doc = include_str!("../../docs/testing.md"))]

mod attempts;
mod budgets;
mod diff;
mod fault_plan;
mod record;
mod script;
mod seed;
mod time;

pub use attempts::{AttemptEnd, CallEnd, RecordedAttempt, RecordedCall, RecordedHedge};
pub use budgets::{DefaultBudgets, default_budgets};
pub use fault_plan::FaultPlan;
pub use record::{Record, record};
pub use seed::{Seeded, seed};
pub use time::{VirtualTime, virtual_time};
