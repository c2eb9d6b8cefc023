//! Delays and chance as one writes them by hand, as cheap as they get. Each loop has a copy of its
//! own: else what else is in the program decides whether it calls them.
#![allow(clippy::inline_always, reason = "that is the point")]

use std::cell::Cell;
use std::time::Duration;

const BASE: Duration = Duration::from_millis(100);
const CAP: Duration = Duration::from_secs(20);

thread_local! {
    static STATE: Cell<u64> = const { Cell::new(0x9e37_79b9_7f4a_7c15) };
}

/// Xorshift, seeded with a constant: nothing that is worth its price is cheaper.
#[inline(always)]
pub(super) fn bits() -> u64 {
    STATE.with(|state| {
        let mut x = state.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        state.set(x);
        x
    })
}

/// In `[0, 1)`.
#[inline(always)]
#[expect(clippy::cast_precision_loss, reason = "53 bits are what a float holds")]
fn unit() -> f64 {
    (bits() >> 11) as f64 / (1_u64 << 53) as f64
}

/// 100 ms, 200 ms, ..., at most 20 s, with full jitter.
#[inline(always)]
pub(crate) fn exponential(retry: u32) -> Duration {
    exponential_from(BASE, retry)
}

/// The same from another first delay.
#[inline(always)]
pub(crate) fn exponential_from(base: Duration, retry: u32) -> Duration {
    exponential_within(base, CAP, retry)
}

/// The same with another longest delay.
#[inline(always)]
pub(crate) fn exponential_within(base: Duration, cap: Duration, retry: u32) -> Duration {
    let delay = base.saturating_mul(2_u32.saturating_pow(retry));
    delay.min(cap).mul_f64(unit())
}

/// 1 ms, give or take 20 %.
#[inline(always)]
pub(super) fn fixed() -> Duration {
    Duration::from_millis(1).mul_f64(0.8 + 0.4 * unit())
}
