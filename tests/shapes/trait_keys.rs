//! `#[async_trait]` with keys that name parameters, with other answers, and with `#[instrument]`.

use std::time::Duration;

use async_trait::async_trait;
use reattempt::{RetryError, retry};
use tokio::time::Instant;

use crate::{Fault, Script};

#[async_trait]
trait Remote {
    fn count(&mut self) -> u32;

    async fn owned(&self, text: String) -> Result<u32, Fault>;
    async fn mut_owned(&self, list: Vec<u32>) -> Result<u32, Fault>;
    async fn pattern_owned(&self, pair: (String, u32)) -> Result<u32, Fault>;
    async fn failed(&self) -> Result<u32, RetryError<Fault>>;
    async fn option(&self) -> Option<u32>;
    async fn context(&mut self) -> Result<u32, Fault>;
    async fn refreshed(&mut self) -> Result<u32, Fault>;
    async fn asked(&mut self) -> Result<u32, Fault>;
    async fn instrumented(&mut self, text: String) -> Result<u32, Fault>;
    async fn instrumented_reference(&self) -> Result<u32, Fault>;
    async fn instrumented_below(&mut self, text: String) -> Result<u32, Fault>;
}

#[derive(Debug)]
struct Service {
    script: Script,
    calls: u32,
}

#[async_trait]
impl Remote for Service {
    fn count(&mut self) -> u32 {
        self.calls += 1;
        self.calls
    }

    // An owned parameter that the body moves.
    #[retry(max = 3, on(_), clone(text))]
    async fn owned(&self, text: String) -> Result<u32, Fault> {
        drop(text);
        self.script.step_async().await
    }

    // A `mut` parameter that is cloned.
    #[retry(max = 3, on(_), clone(list))]
    async fn mut_owned(&self, mut list: Vec<u32>) -> Result<u32, Fault> {
        list.push(0);
        self.script.step_async().await?;
        Ok(list.len() as u32 + 2)
    }

    // A pattern whose part is cloned.
    #[retry(max = 3, on(_), clone(text))]
    async fn pattern_owned(&self, (text, zero): (String, u32)) -> Result<u32, Fault> {
        drop(text);
        Ok(self.script.step_async().await? + zero)
    }

    // `RetryError`.
    #[retry(max = 3, on(_))]
    async fn failed(&self) -> Result<u32, RetryError<Fault>> {
        let number = self.script.step_async().await?;
        Ok(number)
    }

    // `Option`.
    #[retry(max = 3, on(_))]
    async fn option(&self) -> Option<u32> {
        let number = self.script.step_async().await.ok()?;
        Some(number)
    }

    // The attempt is seen.
    #[retry(max = 3, on(_), context = attempt)]
    async fn context(&mut self) -> Result<u32, Fault> {
        assert_eq!(attempt.number(), self.count());
        self.script.step_async().await
    }

    // The receiver in a hook, by the name that `#[async_trait]` leaves it.
    #[retry(max = 3, on(_), before_retry = async |_| { self.count(); })]
    async fn refreshed(&mut self) -> Result<u32, Fault> {
        self.script.step_async().await?;
        Ok(self.calls + 1)
    }

    // The same in `retry_after`, which is asked about the last failure, too.
    #[retry(max = 3, on(_), retry_after = |fault| { assert_eq!(self.count(), fault.0); HOUR }, max_retry_after = "1h")]
    async fn asked(&mut self) -> Result<u32, Fault> {
        assert_eq!(self.calls, self.script.attempts());
        self.script.step_async().await
    }

    // `#[instrument]` above, `&self`.
    #[tracing::instrument(skip(self), err)]
    #[retry(max = 3, on(_))]
    async fn instrumented_reference(&self) -> Result<u32, Fault> {
        self.script.step_async().await
    }

    // Below.
    #[retry(max = 3, on(_))]
    #[tracing::instrument(skip(self), err)]
    async fn instrumented_below(&mut self, text: String) -> Result<u32, Fault> {
        self.calls += text.len() as u32;
        self.script.step_async().await
    }

    // `#[instrument]` above.
    #[tracing::instrument(skip(self), err)]
    #[retry(max = 3, on(_))]
    async fn instrumented(&mut self, text: String) -> Result<u32, Fault> {
        self.calls += text.len() as u32;
        self.script.step_async().await
    }
}

#[async_trait]
trait Once: Sized {
    async fn moved(self) -> Result<u32, Fault>;
    async fn mut_moved(self, more: u32) -> Result<u32, Fault>;
}

#[async_trait]
impl Once for Script {
    // The receiver is cloned.
    #[retry(max = 3, on(_), clone(self))]
    async fn moved(self) -> Result<u32, Fault> {
        let script = self;
        script.step_async().await
    }

    // One that is `mut`, with a hook that names the original.
    #[retry(max = 3, on(_), clone(self), on_retry = |_| assert!(self.attempts() > 0))]
    async fn mut_moved(mut self, more: u32) -> Result<u32, Fault> {
        let other = self.clone();
        let script = std::mem::replace(&mut self, other);
        Ok(script.step_async().await? + more)
    }
}

const HOUR: Duration = Duration::from_secs(3600);

fn service(script: &Script) -> Service {
    let script = script.clone();
    Service { script, calls: 0 }
}

async_shapes! {
    owned => async |script| service(script).owned("text".into()).await,
    mut_owned => async |script| service(script).mut_owned(vec![]).await,
    pattern_owned => async |script| service(script).pattern_owned(("text".into(), 0)).await,
    moved => async |script| script.clone().moved().await,
    mut_moved => async |script| script.clone().mut_moved(0).await,
    failed => async |script| crate::last(service(script).failed().await),
    option => async |script| service(script).option().await,
    context => async |script| service(script).context().await,
    refreshed => async |script| service(script).refreshed().await,
    asked => async |script| {
        let start = Instant::now();
        let answer = service(script).asked().await;
        assert!(start.elapsed() >= 2 * HOUR);
        answer
    },
    instrumented => async |script| service(script).instrumented("text".into()).await,
    instrumented_reference => async |script| service(script).instrumented_reference().await,
    instrumented_below => async |script| service(script).instrumented_below("text".into()).await,
}
