//! An answer that takes a unique borrow of a parameter out of the attempt.

use reattempt_policy::rules::RuleId;

use crate::async_trait;
use crate::diagnostics::Diagnostics;
use crate::escape::{self, Escape, Proof};
use crate::item::{Answer, Flow, Function};
use crate::rename::self_in;

/// Refuses such an answer, and returns one that only the compiler can judge.
pub(super) fn borrowed(
    function: &Function,
    answer: &Answer,
    flow: &Flow,
    faults: &mut Diagnostics,
) -> Option<Escape> {
    let (Some(body), Some(ty)) = (&function.body, answer.ty()) else {
        return None;
    };
    let body = match flow {
        Flow::Future { .. } => self_in(async_trait::body(body)?.stream()),
        Flow::Sync | Flow::Async => body.stream(),
    };
    let found = escape::find(&function.signature, ty, &body)?;
    if matches!(found.proof, Proof::Certain) {
        faults.push(found.span(), RuleId::S12, found.message());
        return None;
    }
    Some(found)
}
