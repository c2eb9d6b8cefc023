//! Answers: aliases, other people's errors, nothing at all.

use std::convert::Infallible;
use std::fmt;
use std::io;

use reattempt::{Classify, Verdict};
use reattempt_supervisor::{Flow, Step, StepError, SubmitError, step, workflow};

use super::outcome;

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

#[step]
async fn boxed(_: &Step, text: &str) -> Result<u32, Box<dyn std::error::Error + Send + Sync>> {
    Ok(text.parse()?)
}

#[step]
async fn lent(_: &Step, text: &'static str) -> Result<u32, &'static str> {
    text.parse().map_err(|_| "no number")
}

#[step]
async fn never(_: &Step) -> Result<u32, Infallible> {
    Ok(1)
}

#[workflow]
async fn well(flow: &Flow) -> anyhow::Result<()> {
    assert_eq!(behind_an_alias(flow, false).await?, 7);
    unit(flow).await?;
    assert_eq!(of_anyhow(flow, "1").await?, 1);
    assert_eq!(of_anyhow_with_retries(flow, "2").await?, 2);
    assert_eq!(boxed(flow, "3").await?, 3);
    assert_eq!(lent(flow, "4").await?, 4);
    assert_eq!(never(flow).await?, 1);
    Ok(())
}

#[workflow]
async fn ill(flow: &Flow, which: u32) -> Result<u32, StepError> {
    match which {
        0 => behind_an_alias(flow, true).await,
        1 => of_anyhow(flow, "").await,
        2 => of_anyhow_with_retries(flow, "x").await,
        3 => boxed(flow, "x").await,
        _ => lent(flow, "x").await,
    }
}

#[tokio::test(start_paused = true)]
async fn all_is_well() {
    outcome(well(), |it| it.register(well)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_errors_say_is_recorded() {
    let said = [
        "step `behind_an_alias` failed: it is broken",
        "step `of_anyhow` failed: there is nothing in it",
        "step `of_anyhow_with_retries` failed: invalid digit found in string",
        "step `boxed` failed: invalid digit found in string",
        "step `lent` failed: no number",
    ];
    for (which, expected) in (0..).zip(said) {
        let ended = outcome(ill(which), |it| it.register(ill)).await;
        let Err(SubmitError::Ended(_, _, why)) = ended else {
            panic!("{which} did not fail: {ended:?}");
        };
        assert_eq!(why, expected);
    }
}
