//! `#[async_trait]`, on traits and on their implementations.

use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use reattempt::retry;

use crate::{Fault, Script, sendable};

#[async_trait]
trait Remote: Sized {
    type Item;

    fn script(&self) -> &Script;

    fn count(&mut self) -> u32;

    // The body of a default method.
    #[retry(max = 3, on(_))]
    async fn default_body(&self) -> Result<u32, Fault> {
        self.script().step_async().await
    }

    // Of one that changes the receiver.
    #[retry(max = 3, on(_))]
    async fn default_mut(&mut self) -> Result<u32, Fault>
    where
        Self: Sync + Send,
    {
        let count = self.count();
        self.script().step_async().await?;
        Ok(count)
    }

    async fn by_reference(&self) -> Result<u32, Fault>;
    async fn by_mutable_reference(&mut self) -> Result<u32, Fault>;
    async fn by_value(self) -> Result<u32, Fault>;
    async fn in_arc(self: Arc<Self>) -> Result<u32, Fault>;
    async fn borrowing(&self, text: String, list: Vec<u32>) -> Result<u32, Fault>;
    async fn mut_borrowed(&self, list: Vec<u32>) -> Result<u32, Fault>;
    async fn pattern(&self, pair: (String, u32)) -> Result<u32, Fault>;
    async fn references<'a>(&self, text: &'a str, list: &mut Vec<u32>) -> Result<&'a str, Fault>;
    async fn generic<T: Send + Sync + AsRef<str>>(&self, text: T) -> Result<u32, Fault>;
    async fn impl_trait(&self, text: impl AsRef<str> + Send + Sync) -> Result<u32, Fault>;
    async fn associated(&self) -> Result<Self::Item, Fault>;
    async fn without_receiver(script: &Script) -> Result<Self, Fault>;
}

#[derive(Debug)]
struct Service {
    script: Script,
    calls: u32,
}

#[async_trait]
impl Remote for Service {
    type Item = u32;

    fn script(&self) -> &Script {
        &self.script
    }

    fn count(&mut self) -> u32 {
        self.calls += 1;
        self.calls
    }

    // `&self`.
    #[retry(max = 3, on(_))]
    async fn by_reference(&self) -> Result<u32, Fault> {
        let number = self.script.step_async().await?;
        return Ok(number);
    }

    // `&mut self`.
    #[retry(max = 3, on(_))]
    async fn by_mutable_reference(&mut self) -> Result<u32, Fault> {
        self.calls += 1;
        self.script.step_async().await?;
        Ok(self.calls)
    }

    // `self`.
    #[retry(max = 3, on(_))]
    async fn by_value(self) -> Result<u32, Fault> {
        self.script.step_async().await
    }

    // `self: Arc<Self>`.
    #[retry(max = 3, on(_))]
    async fn in_arc(self: Arc<Self>) -> Result<u32, Fault> {
        self.script.step_async().await
    }

    // Owned parameters that the body borrows.
    #[retry(max = 3, on(_))]
    async fn borrowing(&self, text: String, list: Vec<u32>) -> Result<u32, Fault> {
        assert_eq!((text.len(), list.len()), (4, 0));
        self.script.step_async().await
    }

    // A `mut` parameter.
    #[retry(max = 3, on(_))]
    async fn mut_borrowed(&self, mut list: Vec<u32>) -> Result<u32, Fault> {
        list.push(0);
        self.script.step_async().await?;
        Ok(list.len() as u32)
    }

    // A pattern.
    #[retry(max = 3, on(_))]
    async fn pattern(&self, (text, zero): (String, u32)) -> Result<u32, Fault> {
        assert_eq!(text, "text");
        Ok(self.script.step_async().await? + zero)
    }

    // References, a lifetime, a borrow as the answer.
    #[retry(max = 3, on(_))]
    async fn references<'a>(&self, text: &'a str, list: &mut Vec<u32>) -> Result<&'a str, Fault> {
        list.push(0);
        self.script.step_async().await?;
        Ok(&text[1..])
    }

    // A type parameter.
    #[retry(max = 3, on(_))]
    async fn generic<T: Send + Sync + AsRef<str>>(&self, text: T) -> Result<u32, Fault> {
        assert_eq!(text.as_ref(), "text");
        self.script.step_async().await
    }

    // `impl Trait`.
    #[retry(max = 3, on(_))]
    async fn impl_trait(&self, text: impl AsRef<str> + Send + Sync) -> Result<u32, Fault> {
        assert_eq!(text.as_ref(), "text");
        self.script.step_async().await
    }

    // An associated type.
    #[retry(max = 3, on(_))]
    async fn associated(&self) -> Result<Self::Item, Fault> {
        self.script.step_async().await
    }

    // No receiver, `Self` as the answer.
    #[retry(max = 3, on(_))]
    async fn without_receiver(script: &Script) -> Result<Self, Fault> {
        script.step_async().await?;
        Ok(service(script))
    }
}

#[async_trait(?Send)]
trait Local {
    // A future that can't be sent.
    #[retry(max = 3, on(_))]
    async fn not_send(&self, script: Rc<Script>) -> Result<u32, Fault> {
        script.step_async().await
    }
}

impl Local for Service {}

fn service(script: &Script) -> Service {
    let script = script.clone();
    Service { script, calls: 0 }
}

async_shapes! {
    default_body => async |script| sendable(service(script).default_body()).await,
    default_mut => async |script| sendable(service(script).default_mut()).await,
    by_reference => async |script| sendable(service(script).by_reference()).await,
    by_mutable_reference => async |script| sendable(service(script).by_mutable_reference()).await,
    by_value => async |script| sendable(service(script).by_value()).await,
    in_arc => async |script| sendable(Arc::new(service(script)).in_arc()).await,
    borrowing => async |script| service(script).borrowing("text".into(), vec![]).await,
    mut_borrowed => async |script| service(script).mut_borrowed(vec![]).await,
    pattern => async |script| service(script).pattern(("text".into(), 0)).await,
    references => async |script| service(script).references("?3", &mut vec![]).await,
    generic => async |script| service(script).generic("text").await,
    impl_trait => async |script| service(script).impl_trait("text").await,
    associated => async |script| service(script).associated().await,
    without_receiver => async |script| Service::without_receiver(script).await.map(|_| 3),
    not_send => async |script| service(script).not_send(Rc::new(script.clone())).await,
}
