//! `#[tracing::instrument]` above and below: which of the two wraps the other.

use reattempt::retry;
use tracing::instrument;

use crate::{Fault, Script};

// `#[instrument]` above.
#[instrument]
#[retry(max = 3, backoff = "none", on(_))]
fn instrument_above(script: &Script) -> Result<u32, Fault> {
    script.step()
}

// Below.
#[retry(max = 3, backoff = "none", on(_))]
#[instrument]
fn instrument_below(script: &Script) -> Result<u32, Fault> {
    script.step()
}

// With its keys, above.
#[instrument(skip_all, err, ret, level = "debug", fields(attempts = script.attempts()))]
#[retry(max = 3, backoff = "none", on(_))]
fn instrument_keys_above(script: &Script) -> Result<u32, Fault> {
    let number = script.step()?;
    Ok(number)
}

// Below.
#[retry(max = 3, backoff = "none", on(_))]
#[instrument(skip_all, err(Debug), ret, level = "debug")]
fn instrument_keys_below(script: &Script) -> Result<u32, Fault> {
    let number = script.step()?;
    Ok(number)
}

// A `String` that the body borrows, above.
#[instrument]
#[retry(max = 3, backoff = "none", on(_))]
fn instrument_string(script: &Script, text: String) -> Result<u32, Fault> {
    assert_eq!(text, "text");
    script.step()
}

// The same with `err`, which calls a `move` closure.
#[instrument(skip_all, err)]
#[retry(max = 3, backoff = "none", on(_))]
fn instrument_string_err(script: &Script, text: String) -> Result<u32, Fault> {
    assert_eq!(text, "text");
    script.step()
}

// The same with `&mut`.
#[instrument(skip_all, err, ret)]
#[retry(max = 3, backoff = "none", on(_))]
fn instrument_mut_err(script: &mut Script) -> Result<u32, Fault> {
    *script = script.clone();
    script.step()
}

// A `String` that the body moves, above.
#[instrument]
#[retry(max = 3, backoff = "none", on(_), clone(text))]
fn instrument_cloned(script: &Script, text: String) -> Result<u32, Fault> {
    drop(text);
    script.step()
}

// An answer of `RetryError`, above.
#[instrument(skip_all)]
#[retry(max = 3, backoff = "none", on(_))]
fn instrument_failed_above(script: &Script) -> Result<u32, reattempt::RetryError<Fault>> {
    Ok(script.step()?)
}

// Below.
#[retry(max = 3, backoff = "none", on(_))]
#[instrument(skip_all)]
fn instrument_failed_below(script: &Script) -> Result<u32, reattempt::RetryError<Fault>> {
    Ok(script.step()?)
}

// An answer with `impl Trait`.
#[instrument(skip_all)]
#[retry(max = 3, backoff = "none", on(_))]
fn instrument_impl(script: &Script) -> Result<impl Iterator<Item = u32>, Fault> {
    let number = script.step()?;
    Ok(0..number)
}

#[derive(Debug)]
struct Service {
    script: Script,
    calls: u32,
}

impl Service {
    fn of(script: &Script) -> Self {
        let script = script.clone();
        Self { script, calls: 0 }
    }

    // `&mut self`, sync, below.
    #[retry(max = 3, backoff = "none", on(_))]
    #[instrument(skip(self))]
    fn instrument_mut_self_below(&mut self) -> Result<u32, Fault> {
        self.calls += 1;
        self.script.step()?;
        Ok(self.calls)
    }

    // Above.
    #[instrument(skip(self))]
    #[retry(max = 3, backoff = "none", on(_))]
    fn instrument_mut_self_above(&mut self) -> Result<u32, Fault> {
        self.calls += 1;
        self.script.step()?;
        Ok(self.calls)
    }
}

shapes! {
    instrument_above, instrument_below, instrument_keys_above, instrument_keys_below,
    instrument_string => |script| instrument_string(script, "text".into()),
    instrument_string_err => |script| instrument_string_err(script, "text".into()),
    instrument_mut_err => |script| instrument_mut_err(&mut script.clone()),
    instrument_cloned => |script| instrument_cloned(script, "text".into()),
    instrument_failed_above => |script| crate::last(instrument_failed_above(script)),
    instrument_failed_below => |script| crate::last(instrument_failed_below(script)),
    instrument_impl => |script| instrument_impl(script).map(Iterator::count),
    instrument_mut_self_below => |script| Service::of(script).instrument_mut_self_below(),
    instrument_mut_self_above => |script| Service::of(script).instrument_mut_self_above(),
}
