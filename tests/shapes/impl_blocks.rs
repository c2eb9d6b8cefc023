//! The attribute on an `impl` block.

use std::time::Duration;

use async_trait::async_trait;
use reattempt::{RetryError, retry};

use crate::{Fault, Script, sendable};

#[derive(Debug)]
struct Service {
    script: Script,
    calls: u32,
}

#[retry(max = 3, backoff = "none", on(_))]
impl Service {
    // No `Result`: left alone.
    fn of(script: &Script) -> Self {
        let script = script.clone();
        Self { script, calls: 0 }
    }

    const ZERO: u32 = 0;

    // `&self`.
    fn by_reference(&self) -> Result<u32, Fault> {
        Ok(self.script.step()? + Self::ZERO)
    }

    // `&mut self`, documented, public.
    /// Text.
    #[must_use]
    pub(crate) fn by_mutable_reference(&mut self) -> Result<u32, Fault> {
        self.calls += 1;
        self.script.step()?;
        Ok(self.calls)
    }

    // No receiver, generic.
    fn generic<S: AsRef<str>>(script: &Script, text: S) -> Result<u32, Fault> {
        assert_eq!(text.as_ref(), "text");
        script.step()
    }

    // `RetryError`.
    fn failed(&self) -> Result<u32, RetryError<Fault>> {
        Ok(self.script.step()?)
    }

    // Async.
    async fn asynchronous(&mut self) -> Result<u32, Fault> {
        self.calls += 1;
        self.script.step_async().await?;
        Ok(self.calls)
    }

    // A future.
    fn future(&self) -> impl Future<Output = Result<u32, Fault>> + Send {
        async move { self.script.step_async().await }
    }

    // Its own policy, which replaces the block's.
    #[retry(max = 2, backoff = "none", on(_))]
    fn own_policy(&mut self) -> Result<u32, Fault> {
        self.calls += 1;
        self.script.step()
    }

    // No retries.
    #[retry(never)]
    fn never(&self) -> Result<u32, Fault> {
        self.script.step()
    }

    // An `Option` keeps its meaning: not found.
    fn option(&self) -> Option<u32> {
        self.script.step().ok()
    }

    // Another attribute below.
    #[tracing::instrument(skip(self))]
    fn instrumented(&mut self) -> Result<u32, Fault> {
        self.calls += 1;
        self.script.step()
    }

    // An alias of `Result` does not compile without an attribute of its own.
    #[retry(max = 3, backoff = "none", on(_))]
    fn alias(&self) -> Alias {
        self.script.step()
    }
}

type Alias = Result<u32, Fault>;

trait Fetch {
    type Error;

    fn fetch(&mut self) -> Result<u32, Self::Error>;
    async fn fetch_async(&mut self) -> Result<u32, Self::Error>;
}

#[retry(max = 3, backoff = "none", on(_))]
impl Fetch for Service {
    type Error = Fault;

    // The implementation of a trait.
    fn fetch(&mut self) -> Result<u32, Self::Error> {
        self.calls += 1;
        self.script.step()
    }

    // Of an async one.
    async fn fetch_async(&mut self) -> Result<u32, Self::Error> {
        self.calls += 1;
        self.script.step_async().await
    }
}

#[async_trait]
trait Above {
    async fn above(&mut self, text: String) -> Result<u32, Fault>;
}

// `#[async_trait]` above.
#[async_trait]
#[retry(max = 3, backoff = "none", on(_))]
impl Above for Service {
    async fn above(&mut self, text: String) -> Result<u32, Fault> {
        self.calls += text.len() as u32;
        self.script.step_async().await
    }
}

#[async_trait]
trait Below {
    async fn below(&mut self, text: String) -> Result<u32, Fault>;
}

// `#[async_trait]` below.
#[retry(max = 3, backoff = "none", on(_))]
#[async_trait]
impl Below for Service {
    async fn below(&mut self, text: String) -> Result<u32, Fault> {
        self.calls += text.len() as u32;
        self.script.step_async().await
    }
}

/// A generic type.
struct Generic<'a, T>(&'a T);

#[retry(max = 3, backoff = "none", on(_))]
impl<'a, T> Generic<'a, T>
where
    T: Fn() -> Result<u32, Fault>,
{
    // A method of a generic block.
    fn get(&self) -> Result<u32, Fault> {
        (self.0)()
    }

    // A borrow as the answer.
    fn borrowed(&self) -> Result<&'a T, Fault> {
        self.0()?;
        Ok(self.0)
    }
}

/// A hook of the block on every method.
struct Waiting {
    script: Script,
    asked: u32,
}

#[retry(max = 3, on(_), retry_after = |_| { self.asked += 1; Duration::from_nanos(1) })]
impl Waiting {
    // `retry_after` on the receiver.
    fn waited(&mut self) -> Result<u32, Fault> {
        assert_eq!(self.asked, self.script.attempts());
        self.script.step()
    }

    // The same, async.
    async fn waited_async(&mut self) -> Result<u32, Fault> {
        assert_eq!(self.asked, self.script.attempts());
        self.script.step_async().await
    }
}

fn waiting(script: &Script) -> Waiting {
    let script = script.clone();
    Waiting { script, asked: 0 }
}

#[test]
fn own_policies() {
    let mut service = Service::of(&Script::failing(9));
    assert_eq!(service.own_policy(), Err(Fault(2)));
    assert_eq!(service.never(), Err(Fault(3)));
    assert_eq!(service.option(), None);
    assert_eq!(service.script.attempts(), 4);
}

shapes! {
    by_reference => |script| Service::of(script).by_reference(),
    by_mutable_reference => |script| Service::of(script).by_mutable_reference(),
    generic => |script| Service::generic(script, "text"),
    failed => |script| crate::last(Service::of(script).failed()),
    instrumented => |script| Service::of(script).instrumented(),
    alias => |script| Service::of(script).alias(),
    fetch => |script| Service::of(script).fetch(),
    get => |script| Generic(&|| script.step()).get(),
    borrowed => |script| Generic(&|| script.step()).borrowed().map(|_| 3),
    waited => |script| waiting(script).waited(),
}

async_shapes! {
    asynchronous => async |script| sendable(Service::of(script).asynchronous()).await,
    future => async |script| sendable(Service::of(script).future()).await,
    waited_async => async |script| sendable(waiting(script).waited_async()).await,
    fetch_async => async |script| Service::of(script).fetch_async().await,
    above => async |script| Service::of(script).above("text".into()).await,
    below => async |script| Service::of(script).below("text".into()).await,
}
