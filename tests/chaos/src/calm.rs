//! The calm after the storm, in which everything has to work again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reattempt::overload::breaker::State;
use tokio::time::sleep;

use crate::calls::Call;
use crate::log;
use crate::ops::{self, Op};
use crate::plan::Plan;
use crate::shared_budgets::{BREAKERS, KEYS};
use crate::storm::WORKERS;

/// Every operation until it succeeds, within a bound, and then every breaker is closed: what did not.
pub(crate) async fn recover(plan: Plan) -> Vec<String> {
    /// A cool-down, throttles that have to find out, and what was frozen.
    const PATIENCE: Duration = Duration::from_secs(8);
    /// A machine that is busy makes few calls in that time.
    const CALLS: u64 = 50;
    let mut unwell = Vec::new();
    let start = Instant::now();
    let mut kinds: Vec<(Op, u16)> = Op::ASYNC.iter().map(|op| (*op, 0)).collect();
    kinds.dedup();
    kinds.retain(|(op, _)| !op.is_guarded() && *op != Op::Late);
    kinds.extend((0..KEYS).map(|key| (Op::Guarded, key)));
    for (kind, (op, key)) in kinds.into_iter().enumerate() {
        let worker = WORKERS + 1 + kind as u64;
        for number in 0.. {
            let mut next = plan.call_of(op, worker, number);
            let is_closed = || op != Op::Guarded || BREAKERS.get(&key).state() == State::Closed;
            (next.spec.cancel, next.spec.within, next.spec.key) = (None, None, key);
            let call = Arc::new(Call::begin(log::id(worker, number), next.spec, next.policy));
            if ops::succeeds(&call).await && is_closed() {
                break;
            }
            if start.elapsed() > PATIENCE && number >= CALLS {
                unwell.push(format!("{op:?} of key {key} after {number} calls"));
                break;
            }
            sleep(Duration::from_millis(20)).await;
        }
    }
    unwell
}
