//! Results: aliases, errors of other crates, nothing at all.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use reattempt::{Classify, Verdict};
use reattempt_supervisor::{Step, StepError, SubmitError, WorkflowContext, step, workflow};

use super::task_result;

type Answer<T> = Result<T, Broken>;
type Nothing = Result<(), Broken>;

#[derive(Debug, PartialEq)]
struct Broken(bool);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is broken")
    }
}

impl std::error::Error for Broken {}

impl Classify for Broken {
    fn classify(&self) -> Verdict {
        if self.0 {
            Verdict::Transient
        } else {
            Verdict::Permanent
        }
    }
}

#[step(retry(max = 2, base = "1ms"))]
async fn behind_an_alias(_: &Step, bad: bool) -> Answer<u32> {
    if bad {
        return Err(Broken(false));
    }
    Ok(7)
}

#[step(retry())]
async fn unit(_: &Step) -> Nothing {
    Ok(())
}

#[step]
async fn of_anyhow(_: &Step, text: &str) -> anyhow::Result<u32> {
    if text.is_empty() {
        anyhow::bail!("there is nothing in it");
    }
    Ok(text.parse()?)
}

#[step(retry(on = |error: &anyhow::Error| error.is::<io::Error>(), max = 2, base = "1ms",))]
async fn of_anyhow_with_retries(_: &Step, text: &str) -> anyhow::Result<u32> {
    Ok(text.parse()?)
}

#[step(retry(on = reattempt::chain![io::Error, Broken], max = 2, base = "1ms"))]
async fn of_anyhow_by_chain(_: &Step, kind: &str) -> anyhow::Result<u32> {
    use anyhow::Context as _;

    static CALLS: AtomicU32 = AtomicU32::new(0);

    if kind == "broken" {
        return Err(Broken(false)).context("reading");
    }
    match CALLS.fetch_add(1, Ordering::Relaxed) {
        0 => Err(io::Error::from(io::ErrorKind::ConnectionReset)).context("reading"),
        calls => Ok(calls),
    }
}

#[step]
async fn boxed(_: &Step, text: &str) -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
    Ok(text.parse()?)
}

#[step]
async fn static_error(_: &Step, text: &'static str) -> Result<u32, &'static str> {
    text.parse().map_err(|_| "no number")
}

#[step]
async fn never(_: &Step) -> Result<u32, Infallible> {
    Ok(1)
}

#[workflow]
async fn well(context: &WorkflowContext) -> anyhow::Result<()> {
    assert_eq!(behind_an_alias(context, false).await?, 7);
    unit(context).await?;
    assert_eq!(of_anyhow(context, "1").await?, 1);
    assert_eq!(of_anyhow_with_retries(context, "2").await?, 2);
    assert_eq!(of_anyhow_by_chain(context, "reset").await?, 1);
    assert_eq!(boxed(context, "3").await?, 3);
    assert_eq!(static_error(context, "4").await?, 4);
    assert_eq!(never(context).await?, 1);
    Ok(())
}

#[workflow]
async fn ill(context: &WorkflowContext, which: u32) -> Result<u32, StepError> {
    match which {
        0 => behind_an_alias(context, true).await,
        1 => of_anyhow(context, "").await,
        2 => of_anyhow_with_retries(context, "x").await,
        3 => boxed(context, "x").await,
        5 => of_anyhow_by_chain(context, "broken").await,
        _ => static_error(context, "x").await,
    }
}

#[tokio::test(start_paused = true)]
async fn all_is_well() {
    task_result(well(), |it| it.register(well)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_texts_of_errors_are_recorded() {
    let said = [
        "step `behind_an_alias` failed: it is broken",
        "step `of_anyhow` failed: there is nothing in it",
        "step `of_anyhow_with_retries` failed: invalid digit found in string",
        "step `boxed` failed: invalid digit found in string",
        "step `static_error` failed: no number",
        "step `of_anyhow_by_chain` failed: reading: it is broken",
    ];
    for (which, expected) in (0..).zip(said) {
        let ended = task_result(ill(which), |it| it.register(ill)).await;
        let Err(SubmitError::Ended(_, _, why)) = ended else {
            panic!("{which} did not fail: {ended:?}");
        };
        assert_eq!(why, expected);
    }
}
