//! The situations of the figures, one a file.

use crate::figures::Figure;

pub mod contention;
pub mod limits;
pub mod metastable;
pub mod outage;
pub mod priorities;
pub mod refusals;
pub mod throttling;
pub mod tiers;

/// Returns the figures of all scenarios, in order.
pub fn figures() -> Vec<Figure> {
    let parts = [
        outage::per_request(),
        outage::per_success(),
        outage::saturated(),
        outage::independent(),
        tiers::figures(),
        tiers::processes(),
        contention::figures(),
        metastable::figures(),
        throttling::after_an_outage(),
        throttling::after_a_quota(),
        priorities::figures(),
        refusals::figures(),
        limits::figures(),
    ];
    parts.concat()
}
