//! The span of `tracing` around each attempt of a policy that asks for it.

use super::CallContext;
use crate::timer::Clock;
use reattempt_observe::AttemptSpan;

/// Returns the span of the attempt that begins after so many failures, if its policy asks for one.
#[inline(always)]
pub fn attempt_span<T: Clock>(context: CallContext<'_, T>, failures: u32) -> AttemptSpan {
    #[cfg(feature = "tracing")]
    if context.operation.policy().values.telemetry.has_spans() {
        let operation = context.operation;
        let max = operation.policy().attempts();
        return AttemptSpan::new(operation.name(), failures.saturating_add(1), max);
    }
    let _ = (context, failures);
    AttemptSpan::NONE
}
