//! What functions answer.

use std::error::Error;
use std::io;

use reattempt::{GaveUp, RetryError, retry};

use crate::{Fault, Script, sendable};

type Answer<T> = Result<T, Fault>;
type Optional<T> = Option<T>;
type FaultResult = Result<u32, Fault>;

// `Option`, by `?`.
#[retry(max = 3, backoff = "none", on(_))]
fn option(script: &Script) -> Option<u32> {
    let number = script.step().ok()?;
    Some(number)
}

// `return None`.
#[retry(max = 3, backoff = "none", on(_))]
fn option_return(script: &Script) -> Option<u32> {
    let Ok(number) = script.step() else {
        return None;
    };
    Some(number)
}

// Without `on`: `None` is retried.
#[allow(unused_qualifications, reason = "it is the shape")]
#[retry(max = 3, backoff = "none")]
fn option_without_on(script: &Script) -> std::option::Option<u32> {
    script.step().ok()
}

// An alias of `Option`.
#[retry(max = 3, backoff = "none", on(_))]
fn option_alias(script: &Script) -> Optional<u32> {
    script.step().ok()
}

// An alias of `Result` whose name does not tell.
#[retry(max = 3, backoff = "none", on(_))]
fn alias(script: &Script) -> Answer<u32> {
    let number = script.step()?;
    Ok(number)
}

// An alias whose name does, and which hides its arguments.
#[retry(max = 3, backoff = "none", on(_))]
fn hidden_alias(script: &Script) -> FaultResult {
    let number = script.step()?;
    Ok(number)
}

// `io::Result`, which also classifies its errors.
#[retry(max = 3, backoff = "none")]
fn io_result(script: &Script) -> io::Result<u32> {
    script
        .step()
        .map_err(|fault| io::Error::new(io::ErrorKind::TimedOut, fault))
}

// `fmt::Result`.
#[retry(max = 3, backoff = "none", on(_))]
fn fmt_result(script: &Script) -> std::fmt::Result {
    script.step().map_err(|_| std::fmt::Error)?;
    Ok(())
}

// `anyhow::Result`.
#[retry(max = 3, backoff = "none", on(_))]
fn anyhow_result(script: &Script) -> anyhow::Result<u32> {
    use anyhow::Context as _;
    let number = script.step().with_context(|| Fault(script.attempts()))?;
    Ok(number)
}

// `Box<dyn Error>`.
#[retry(max = 3, backoff = "none", on(_))]
fn box_dyn_error(script: &Script) -> Result<u32, Box<dyn Error>> {
    let number = script.step()?;
    let one: u32 = "1".parse()?;
    Ok(number * one)
}

// A text that becomes a `Box<dyn Error>`.
#[retry(max = 3, backoff = "none", on(_))]
fn box_dyn_text(script: &Script) -> Result<u32, Box<dyn Error + Send + Sync>> {
    if let Err(fault) = script.step() {
        return Err(fault.to_string().into());
    }
    Ok(script.attempts())
}

// A text.
#[retry(max = 3, backoff = "none", on = |text: &String| text.ends_with("failed"))]
fn string_error(script: &Script) -> Result<u32, String> {
    script.step().map_err(|fault| fault.to_string())
}

// A `&'static str` as the value, another as the error.
#[retry(max = 3, backoff = "none", on(_))]
fn static_texts(script: &Script) -> Result<&'static str, &'static str> {
    script.step().map_err(|_| "attempt 3 failed")?;
    Ok("3")
}

// An error that is borrowed from a parameter.
#[retry(max = 3, backoff = "none", on = |text| !text.is_empty())]
fn borrowed_error<'a>(script: &Script, text: &'a str) -> Result<u32, &'a str> {
    script.step().map_err(|_| text)
}

// `()` as the error.
#[retry(max = 3, backoff = "none", on(()))]
fn unit_error(script: &Script) -> Result<u32, ()> {
    script.step().map_err(drop)
}

// A `Result` in a `Result`: the outer one counts.
#[retry(max = 3, backoff = "none", on(_))]
fn result_in_result(script: &Script) -> Result<Result<u32, Fault>, Fault> {
    Ok(Ok(script.step()?))
}

// `Result<Option<T>, E>`.
#[retry(max = 3, backoff = "none", on(_))]
fn option_in_result(script: &Script) -> Result<Option<u32>, Fault> {
    script.step().map(Some)
}

// `RetryError` tells why the call ended; the body speaks of its own error.
#[retry(max = 3, backoff = "none", on(_))]
fn failed(script: &Script) -> Result<u32, RetryError<Fault>> {
    if script.attempts() > 100 {
        return Err(Fault(0));
    }
    let number = script.step()?;
    Ok(number)
}

// Paths in front of everything.
#[allow(unused_qualifications, reason = "it is the shape")]
#[retry(max = 3, backoff = "none", on(Fault(1..=9)))]
fn failed_path(script: &Script) -> std::result::Result<u32, reattempt::RetryError<Fault>> {
    script.step()
}

// `RetryError` around a `Box<dyn Error>`.
#[retry(max = 3, backoff = "none", on(_))]
fn failed_box(script: &Script) -> Result<u32, RetryError<Box<dyn Error>>> {
    let number = script.step()?;
    Ok(number)
}

// A number: `until` says which is final.
#[retry(max = 3, backoff = "none", until = |number: &u32| *number == 3)]
fn number(script: &Script) -> u32 {
    script.step().map_or(0, |number| number)
}

// Nothing, as long as something is final.
#[retry(max = 3, backoff = "none", until = |()| script.attempts() == 3)]
fn nothing(script: &Script) {
    script.step().ok();
}

/// An error that can say that the time is over.
#[derive(Debug)]
enum Late {
    Fault(Fault),
    Over,
}

impl From<GaveUp> for Late {
    fn from(_: GaveUp) -> Self {
        Self::Over
    }
}

// A deadline.
#[retry(max = 3, on(Late::Fault(_)), deadline = "1m")]
async fn deadline(script: &Script) -> Result<u32, Late> {
    script.step_async().await.map_err(Late::Fault)
}

// `Option`, async.
#[retry(max = 3, on(_))]
async fn async_option(script: &Script) -> Option<u32> {
    let number = script.step_async().await.ok()?;
    Some(number)
}

// An alias, async.
#[retry(max = 3, on(_))]
async fn async_alias(script: &Script) -> Answer<u32> {
    let number = script.step_async().await?;
    Ok(number)
}

// `io::Result`, async.
#[retry(max = 3)]
async fn async_io_result(script: &Script) -> io::Result<u32> {
    let step = script.step_async().await;
    step.map_err(|fault| io::Error::new(io::ErrorKind::TimedOut, fault))
}

// `RetryError`, async, with a deadline.
#[retry(max = 3, on(_), deadline = "1m")]
async fn async_failed(script: &Script) -> Result<u32, RetryError<Fault>> {
    let number = script.step_async().await?;
    Ok(number)
}

shapes! {
    option, option_return, option_without_on, option_alias, alias, hidden_alias, io_result, anyhow_result,
    box_dyn_error, box_dyn_text, string_error, static_texts,
    fmt_result => |script| fmt_result(script).map(|()| 3).map_err(|_| Fault(3)),
    borrowed_error => |script| borrowed_error(script, "attempt 3 failed").map_err(str::to_owned),
    unit_error => |script| unit_error(script).map_err(|()| Fault(3)),
    result_in_result => |script| result_in_result(script)?,
    option_in_result => |script| option_in_result(script).map(|number| number.unwrap_or(0)),
    failed => |script| crate::last(failed(script)),
    failed_path => |script| crate::last(failed_path(script)),
    failed_box => |script| failed_box(script).map_err(|failed| failed.into_last().map_or(String::new(), |e| e.to_string())),
    number => |script| Some(number(script)).filter(|number| *number == 3),
}

async_shapes! {
    async_option, async_alias, async_io_result,
    deadline => async |script| sendable(deadline(script)).await.map_err(|late| match late {
        Late::Fault(fault) => fault,
        Late::Over => Fault(0),
    }),
    async_failed => async |script| crate::last(sendable(async_failed(script)).await),
}

#[test]
fn nothing_is_final_at_last() {
    let script = Script::failing(2);
    nothing(&script);
    assert_eq!(script.attempts(), 3);
}
