//! Signals: the nth signal of a name is a promise of its own, so that a workflow gets each once and
//! in order.

use reattempt_supervisor::Time;
use restate_sdk::context::RunFuture as _;
use restate_sdk::endpoint::ContextInternal;
use restate_sdk::errors::{HandlerResult, TerminalError};
use restate_sdk::serde::Json;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The input of the handler `signal`.
#[derive(Debug, Deserialize)]
struct SignalInput {
    name: String,
    #[serde(default)]
    payload: Value,
}

/// The value of a resolved promise.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SignalValue {
    /// The invocation that resolved it: two may try to resolve the same promise.
    by: String,
    /// Microseconds since 1970.
    at: i64,
    pub(crate) payload: Value,
}

impl SignalValue {
    pub(crate) const fn at(&self) -> Time {
        Time::from_micros(self.at)
    }
}

/// Reads the clock of this machine; all runs of a handler get the same time.
pub(crate) async fn read_clock(context: &ContextInternal) -> Result<i64, TerminalError> {
    let read = || async { Ok(Time::of_this_machine().as_micros()) };
    context.run(read).name("begin").await
}

/// Returns the name of the promise for the nth signal of a name.
pub(crate) fn promise_name(name: &str, nth: usize) -> String {
    format!("{name}#{nth}")
}

/// Sends a signal: resolves the first open promise of its name.
pub(crate) async fn send(
    context: &ContextInternal,
    input: &[u8],
    invocation: &str,
) -> HandlerResult<()> {
    let input: SignalInput = serde_json::from_slice(input).map_err(|error| {
        let form = "`{\"name\": \"...\", \"payload\": ...}`";
        TerminalError::new_with_code(400, format!("a signal has the form {form}: {error}"))
    })?;
    let at = read_clock(context).await?;
    let value = SignalValue {
        by: invocation.to_owned(),
        at,
        payload: input.payload,
    };
    let mut nth = 0_usize;
    loop {
        let promise = promise_name(&input.name, nth);
        if context
            .peek_promise::<Json<SignalValue>>(&promise)
            .await?
            .is_none()
        {
            context.resolve_promise(&promise, Json(value.clone()));
            let resolved = context.peek_promise::<Json<SignalValue>>(&promise).await?;
            if resolved.is_some_and(|Json(resolved)| resolved.by == value.by) {
                return Ok(());
            }
        }
        nth = nth.saturating_add(1);
    }
}
