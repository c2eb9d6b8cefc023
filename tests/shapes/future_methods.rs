//! Methods that return a future.

use futures::future::BoxFuture;
use reattempt::retry;

use crate::{Fault, Script, sendable};

type Answer = Result<u32, Fault>;

struct Service {
    script: Script,
    calls: u32,
}

trait Call {
    fn call<'a>(&'a mut self, text: &'a str) -> BoxFuture<'a, Answer>;

    // A default method.
    #[retry(max = 3, on(_))]
    fn default_body(&self) -> impl Future<Output = Answer> + Send
    where
        Self: Sync,
    {
        async move { self.script().step_async().await }
    }

    fn script(&self) -> &Script;
}

impl Call for Service {
    // `&mut self` and a lifetime.
    #[retry(max = 3, on(_))]
    fn call<'a>(&'a mut self, text: &'a str) -> BoxFuture<'a, Answer> {
        Box::pin(async move {
            self.calls += 1;
            assert_eq!(text, "text");
            self.script.step_async().await?;
            Ok(self.calls)
        })
    }

    fn script(&self) -> &Script {
        &self.script
    }
}

fn service(script: &Script) -> Service {
    let script = script.clone();
    Service { script, calls: 0 }
}

async_shapes! {
    call => async |script| service(script).call("text").await,
    default_body => async |script| sendable(service(script).default_body()).await,
}
