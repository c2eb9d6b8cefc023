#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
// What can panic is listed in `docs/panics.md`.
#![cfg_attr(
    not(test),
    warn(
        clippy::arithmetic_side_effects,
        clippy::disallowed_methods,
        clippy::get_unwrap,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::string_slice,
        clippy::unreachable,
        clippy::unwrap_in_result
    )
)]

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
