//! Traits without a macro: default bodies and implementations.

use reattempt::retry;

use crate::{Fault, Script, sendable};

#[derive(Debug)]
struct Service {
    script: Script,
    label: String,
}

impl Service {
    fn of(script: &Script) -> Self {
        let (script, label) = (script.clone(), "3".to_owned());
        Self { script, label }
    }
}

trait Fetch {
    type Item;
    type Error;

    fn script(&self) -> &Script;

    // The body of a default method.
    #[retry(max = 3, backoff = "none", on(_))]
    fn default_body(&self) -> Result<u32, Fault> {
        self.script().step()
    }

    // Of an async one.
    #[retry(max = 3, on(_))]
    async fn async_default_body(&mut self) -> Result<u32, Fault> {
        self.script().step_async().await
    }

    fn implemented(&mut self) -> Result<Self::Item, Self::Error>;

    async fn async_implemented(&self, text: String) -> Result<Self::Item, Self::Error>;

    fn future_in_trait(&self) -> impl Future<Output = Result<u32, Fault>> + Send;

    fn constructed(script: &Script) -> Result<Self, Fault>
    where
        Self: Sized;
}

impl Fetch for Service {
    type Item = u32;
    type Error = Fault;

    fn script(&self) -> &Script {
        &self.script
    }

    // The implementation of a trait method, whose types are the trait's.
    #[retry(max = 3, backoff = "none", on(_))]
    fn implemented(&mut self) -> Result<Self::Item, <Self as Fetch>::Error> {
        self.label.clear();
        self.script.step()
    }

    // Of a native async one.
    #[retry(max = 3, on(_), clone(text))]
    async fn async_implemented(&self, text: String) -> Result<Self::Item, Self::Error> {
        drop(text);
        self.script.step_async().await
    }

    // Of one that returns a future.
    #[retry(max = 3, on(_))]
    async fn future_in_trait(&self) -> Result<u32, Fault> {
        self.script.step_async().await
    }

    // Of one without a receiver.
    #[retry(max = 3, backoff = "none", on(_))]
    fn constructed(script: &Script) -> Result<Self, Fault> {
        script.step()?;
        Ok(Self::of(script))
    }
}

shapes! {
    default_body => |script| Service::of(script).default_body(),
    implemented => |script| Service::of(script).implemented(),
    constructed => |script| Service::constructed(script).map(|service| service.label),
}

async_shapes! {
    async_default_body => async |script| Service::of(script).async_default_body().await,
    async_implemented => async |script| sendable(Service::of(script).async_implemented("text".into())).await,
    future_in_trait => async |script| sendable(Service::of(script).future_in_trait()).await,
}
