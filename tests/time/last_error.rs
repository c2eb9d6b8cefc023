//! The last error of a call whose attempts after it only ran out of time: an answer with `RetryError` has it.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use reattempt::{Classify, GaveUp, GiveUpReason, Policy, RetryError, Verdict, retry, retry_block};
use tokio::time::sleep;

use crate::support::ms;

/// Attempts fail with their number up to `errors`, and hang after.
struct Script {
    errors: u32,
    attempts: Cell<u32>,
}

impl Script {
    const fn new(errors: u32) -> Self {
        let attempts = Cell::new(0);
        Self { errors, attempts }
    }

    async fn attempt<E>(&self, error: impl FnOnce(u32) -> E) -> Result<(), E> {
        let attempt = self.attempts.get() + 1;
        self.attempts.set(attempt);
        if attempt > self.errors {
            sleep(Duration::from_secs(3600)).await;
        }
        Err(error(attempt))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault(u32);

impl Classify for Fault {
    fn classify(&self) -> Verdict {
        Verdict::Refused
    }
}

type Answer = Result<(), RetryError<Fault>>;

const TIMEOUT: Policy = Policy::new()
    .max(4)
    .base(Duration::from_millis(1))
    .timeout(Duration::from_millis(50));
const DEADLINE: Policy = Policy::new()
    .max(4)
    .base(Duration::from_millis(1))
    .deadline(Duration::from_millis(500));

#[retry(policy = TIMEOUT)]
async fn constant(script: &Script) -> Result<(), RetryError<Fault>> {
    script.attempt(Fault).await
}

#[retry(policy = DEADLINE)]
async fn until_the_deadline(script: &Script) -> Result<(), RetryError<Fault>> {
    script.attempt(Fault).await
}

#[retry(max = 4, base = "1ms", timeout = "50ms")]
async fn written(script: &Script) -> Result<(), RetryError<Fault>> {
    script.attempt(Fault).await
}

#[retry(max = 4, base = "1ms", timeout = "50ms")]
async fn behind_an_alias(script: &Script) -> Answer {
    script.attempt(Fault).await
}

#[retry(policy = policy)]
async fn at_run_time(policy: Policy, script: &Script) -> Result<(), RetryError<Fault>> {
    script.attempt(Fault).await
}

#[retry(max = 4, base = "1ms", timeout = "50ms", map_err = |error: RetryError<Fault>| error)]
async fn mapped(script: &Script) -> Result<(), RetryError<Fault>> {
    script.attempt(Fault).await
}

#[retry(max = 4, base = "1ms", timeout = "50ms", history)]
async fn with_history(script: &Script) -> Result<(), RetryError<Fault>> {
    script.attempt(Fault).await
}

#[retry(max = 4, base = "1ms", timeout = "50ms", before_retry = async |_| sleep(ms(1)).await)]
async fn with_a_hook(script: &Script) -> Result<(), RetryError<Fault>> {
    script.attempt(Fault).await
}

#[retry(max = 4, base = "1ms", timeout = "50ms", until = |()| false)]
async fn polling(script: &Script) -> Result<(), RetryError<Fault>> {
    script.attempt(Fault).await
}

#[retry(max = 4, base = "1ms", fast_first = true, timeout = "50ms")]
async fn without_a_delay(script: &Script) -> Result<(), RetryError<Fault>> {
    script.attempt(Fault).await
}

async fn in_a_block(script: &Script) -> Answer {
    retry_block!(
        max = 4,
        base = "1ms",
        timeout = "50ms",
        async || -> Result<(), RetryError<Fault>> { script.attempt(Fault).await }
    )
    .await
}

async fn each(errors: u32) -> Vec<(&'static str, Answer)> {
    let script = || Script::new(errors);
    vec![
        ("constant", constant(&script()).await),
        ("deadline", until_the_deadline(&script()).await),
        ("written", written(&script()).await),
        ("alias", behind_an_alias(&script()).await),
        ("run time", at_run_time(TIMEOUT, &script()).await),
        ("run time, deadline", at_run_time(DEADLINE, &script()).await),
        ("map_err", mapped(&script()).await),
        ("history", with_history(&script()).await),
        ("before_retry", with_a_hook(&script()).await),
        ("until", polling(&script()).await),
        ("no delay", without_a_delay(&script()).await),
        ("block", in_a_block(&script()).await),
        ("runner", {
            let script = script();
            TIMEOUT
                .runner()
                .try_run_async(|| script.attempt(Fault))
                .await
        }),
        ("runner, deadline", {
            let script = script();
            DEADLINE
                .runner()
                .try_run_async(|| script.attempt(Fault))
                .await
        }),
        ("runner, history", {
            let script = script();
            let runner = TIMEOUT.runner().history();
            runner.try_run_async(|| script.attempt(Fault)).await
        }),
    ]
}

#[tokio::test(start_paused = true)]
async fn what_failed_before_a_time_out_is_the_last_error() {
    for errors in 0..=3 {
        for (name, answer) in each(errors).await {
            let error = answer.expect_err(name);
            let case = format!("{name}, {errors}: {error:?}");
            let expected = (errors > 0).then_some(Fault(errors));
            assert_eq!(error.last(), expected.as_ref(), "{case}");
            assert!(error.is_timeout(), "{case}");
            // Not `Refused`: the attempt without an answer may have run.
            assert_eq!(error.classify(), Verdict::Transient, "{case}");
            let all: Vec<_> = error.errors().map(|fault| fault.0).collect();
            let kept = if name.contains("history") { 1 } else { errors };
            assert!(all.iter().copied().eq(kept.max(1)..=errors), "{case}");
        }
    }
}

/// An error of the last attempt is what it was.
#[tokio::test(start_paused = true)]
async fn the_error_of_the_last_attempt_says_what_it_is() {
    for (name, answer) in each(4).await {
        let error = answer.expect_err(name);
        let end = (error.last(), error.is_timeout(), error.classify());
        assert_eq!(end, (Some(&Fault(4)), false, Verdict::Refused), "{name}");
        assert_eq!(
            (error.attempts(), error.reason()),
            (4, GiveUpReason::Attempts),
            "{name}"
        );
    }
}

/// Whoever turns the end into an error of the other kind learns what the last attempt came to.
#[tokio::test(start_paused = true)]
async fn an_error_of_an_outer_call_knows_nothing_of_it() {
    #[derive(Debug, Clone, PartialEq, Eq)]
    struct Outer(String);
    impl std::fmt::Display for Outer {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(&self.0)
        }
    }
    impl Classify for Outer {
        fn classify(&self) -> Verdict {
            Verdict::Refused
        }
    }
    impl From<GaveUp> for Outer {
        fn from(end: GaveUp) -> Self {
            Self(end.to_string())
        }
    }
    let end = GaveUp::new(GiveUpReason::Deadline, 2);
    let inner = RetryError::with_earlier(end, Outer("refused".to_owned()));
    assert_eq!(inner.to_string(), format!("{end}; before that: refused"));
    let nested = RetryError::new(GaveUp::new(GiveUpReason::Attempts, 1), Some(inner.clone()));
    assert_eq!(nested.flatten().classify(), Verdict::Transient);
    assert_eq!(inner.into_error(), Outer(end.to_string()));
}

/// A runner that answers with the error alone ends with the time-out.
#[tokio::test(start_paused = true)]
async fn an_answer_without_a_reason_says_that_time_ran_out() {
    #[derive(Debug, PartialEq, Eq)]
    enum Plain {
        Fault,
        GaveUp(bool),
    }
    impl From<GaveUp> for Plain {
        fn from(end: GaveUp) -> Self {
            Self::GaveUp(end.is_timeout())
        }
    }
    #[retry(max = 3, base = "1ms", timeout = "50ms", on(_))]
    async fn attribute(script: &Script) -> Result<(), Plain> {
        script.attempt(|_| Plain::Fault).await
    }
    type Alias = Result<(), Plain>;
    #[retry(policy = TIMEOUT, on(_))]
    async fn alias(script: &Script) -> Alias {
        script.attempt(|_| Plain::Fault).await
    }
    let timed_out = Err(Plain::GaveUp(true));
    assert_eq!(attribute(&Script::new(2)).await, timed_out);
    assert_eq!(alias(&Script::new(2)).await, timed_out);
    let script = Script::new(2);
    let runner = TIMEOUT.on(|_: &Plain| true);
    assert_eq!(
        runner.run_async(|| script.attempt(|_| Plain::Fault)).await,
        timed_out
    );
}

/// An error that cannot be sent is not kept: the future can.
#[tokio::test(start_paused = true)]
async fn an_error_that_cannot_be_sent_is_dropped() {
    #[derive(Debug)]
    struct Local(#[expect(dead_code, reason = "not `Send`")] Rc<()>);
    #[retry(max = 3, base = "1ms", timeout = "50ms", on(_))]
    async fn local(errors: u32) -> Result<(), RetryError<Local>> {
        let hangs = errors == 0;
        if hangs {
            sleep(Duration::from_secs(60)).await;
        }
        Err(Local(Rc::new(())))
    }
    fn sent<F: Future + Send>(future: F) -> F {
        future
    }
    let error = sent(local(0)).await.unwrap_err();
    assert!(error.last().is_none() && error.is_timeout());
    assert!(sent(local(1)).await.unwrap_err().last().is_some());
}
