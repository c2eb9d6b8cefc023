//! The programmatic form, and a breaker without any retry.

use reattempt::overload::breaker::Rejected;
use reattempt::{Policy, RetryError};
use reqwest::Method;

use super::Answer;
use super::http::ask;
use crate::calls::{Call, Wrong};
use crate::log::{self, CallEnd, What};
use crate::shared_budgets::BREAKERS;

pub(super) async fn runner(call: &Call) -> Answer {
    let policy: &Policy = &call.policy;
    let mut number = 0;
    let attempts = policy.runner().name("runner").try_run_async(|| {
        number += 1;
        let number = number;
        async move {
            let body = call.attempt(number);
            body.end(ask(Method::GET, "value", call, number).await)
        }
    });
    let answer: Result<String, RetryError<Wrong>> = attempts.await;
    answer.map(drop)
}

pub(super) async fn runner_guarded(call: &Call) -> Answer {
    let breaker = BREAKERS.get(&call.spec.key);
    let runner = call.policy.runner().name("runner").breaker(&breaker);
    let mut number = 0;
    let attempts = runner.try_run_async(|| {
        number += 1;
        let number = number;
        async move {
            let body = call.attempt(number);
            body.end(ask(Method::GET, "guard", call, number).await)
        }
    });
    attempts.await.map(drop)
}

pub(super) async fn guarded(call: &Call) -> bool {
    let breaker = BREAKERS.get(&call.spec.key);
    let attempt = async {
        let body = call.attempt(1);
        body.end(ask(Method::GET, "guard", call, 1).await)
    };
    let end = match breaker.call_async(attempt).await {
        Ok(_) => CallEnd::Ok,
        Err(Rejected::Inner(_)) => CallEnd::Failed(None),
        Err(Rejected::Open(_)) => {
            log::note(call.id, What::Refused);
            CallEnd::Failed(None)
        }
        Err(other) => unreachable!("{other:?}"),
    };
    log::note(call.id, What::CallEnded(end));
    end == CallEnd::Ok
}
