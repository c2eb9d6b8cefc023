//! Signals: the nth of a name is a promise of its own, so that each is heard once and in order.

use reattempt_supervisor::Time;
use restate_sdk::context::RunFuture as _;
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::{HandlerResult, TerminalError};
use restate_sdk::serde::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the handler `signal` is given.
#[derive(Debug, Deserialize)]
struct Given {
    name: String,
    #[serde(default)]
    payload: Value,
}

/// What a promise is kept with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// Who kept it: two may want to keep the same.
    by: String,
    /// In microseconds since 1970.
    at: i64,
    pub(crate) payload: Value,
}

impl Kept {
    pub(crate) const fn at(&self) -> Time {
        Time::from_micros(self.at)
    }
}

/// The clock of this machine, once for all runs of a handler.
pub(crate) async fn now(context: &ContextInternal) -> Result<i64, TerminalError> {
    let read = || async { Ok(Time::of_this_machine().as_micros()) };
    context.run(read).name("begin").await
}

/// The promise of the nth signal of a name.
pub(crate) fn promise(name: &str, nth: usize) -> String {
    format!("{name}#{nth}")
}

/// Keeps the first promise of its name that is open.
pub(crate) async fn tell(
    context: &ContextInternal,
    given: &[u8],
    invocation: &str,
) -> HandlerResult<()> {
    let given: Given = serde_json::from_slice(given).map_err(|error| {
        let form = "`{\"name\": \"...\", \"payload\": ...}`";
        TerminalError::new_with_code(400, format!("a signal has the form {form}: {error}"))
    })?;
    let at = now(context).await?;
    let kept = Kept {
        by: invocation.to_owned(),
        at,
        payload: given.payload,
    };
    let mut nth = 0_usize;
    loop {
        let promise = promise(&given.name, nth);
        if context
            .peek_promise::<Json<Kept>>(&promise)
            .await?
            .is_none()
        {
            context.resolve_promise(&promise, Json(kept.clone()));
            let now = context.peek_promise::<Json<Kept>>(&promise).await?;
            if now.is_some_and(|Json(now)| now.by == kept.by) {
                return Ok(());
            }
        }
        nth = nth.saturating_add(1);
    }
}
