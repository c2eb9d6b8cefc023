//! Every shape: functions, methods, blocks, runners, layers, named policies.

use std::future::{Future, ready as at_once};
use std::io::Error;
use std::sync::Arc;

use reattempt::tower::RetryLayer;
use reattempt::{Policy, RetryError, retry, retry_block};
use tower::{Layer as _, Service as _};

use crate::{Unused, allocates_nothing, ready};

const POLICY: Policy = Policy::new().max(4);
static SHARED: Policy = Policy::new().max(4);

#[derive(Debug, Default)]
struct Client {
    calls: u32,
    policy: Policy,
}

#[retry(timer = Unused, on(_))]
impl Client {
    fn shared(&self) -> Result<u32, RetryError<u32>> {
        Ok(self.calls)
    }

    async fn shared_async(&self) -> Result<u32, RetryError<u32>> {
        Ok(self.calls)
    }

    fn exclusive(&mut self) -> Result<u32, RetryError<u32>> {
        self.calls += 1;
        Ok(self.calls)
    }

    async fn exclusive_async(&mut self) -> Result<u32, RetryError<u32>> {
        self.calls += 1;
        Ok(self.calls)
    }

    async fn counted(self: Arc<Self>) -> Result<u32, RetryError<u32>> {
        Ok(self.calls)
    }

    fn future(&self) -> impl Future<Output = Result<u32, RetryError<u32>>> {
        at_once(Ok(self.calls))
    }
}

impl Client {
    #[retry(policy = self.policy, timer = Unused, on(_))]
    fn by_field(&self) -> Result<u32, RetryError<u32>> {
        Ok(self.calls)
    }

    #[retry(policy = self.policy, timer = Unused, on(_))]
    async fn by_field_async(&self) -> Result<u32, RetryError<u32>> {
        Ok(self.calls)
    }
}

#[retry(timer = Unused, on(_))]
fn generic<T: Copy>(value: T) -> Option<T> {
    Some(value)
}

#[retry(policy = &SHARED, timer = Unused, on(_))]
async fn by_static(number: u32) -> Result<u32, RetryError<u32>> {
    Ok(number)
}

#[retry(policy = "costs", timer = Unused, on(_))]
fn named(number: u32) -> Result<u32, RetryError<u32>> {
    Ok(number)
}

#[retry(policy = "costs", timer = Unused, on(_))]
async fn named_async(number: u32) -> Result<u32, RetryError<u32>> {
    Ok(number)
}

#[retry(timer = Unused, on(_))]
async fn outer(number: u32) -> Result<u32, RetryError<u32>> {
    by_static(number).await.map_err(|_| number)
}

#[test]
fn functions_and_methods() {
    let client = Client::default();
    let counted = Arc::new(Client::default());
    allocates_nothing("&self", || assert!(client.shared().is_ok()));
    allocates_nothing("async &self", || {
        assert!(ready(client.shared_async()).is_ok())
    });
    allocates_nothing("&mut self", || {
        assert!(Client::default().exclusive().is_ok())
    });
    allocates_nothing("async &mut self", || {
        assert!(ready(Client::default().exclusive_async()).is_ok());
    });
    allocates_nothing("Arc<Self>", || {
        assert!(ready(Arc::clone(&counted).counted()).is_ok())
    });
    allocates_nothing("impl Future", || assert!(ready(client.future()).is_ok()));
    allocates_nothing("a field's policy", || assert!(client.by_field().is_ok()));
    allocates_nothing("async, a field's policy", || {
        assert!(ready(client.by_field_async()).is_ok());
    });
    allocates_nothing("generic, Option", || assert!(generic(7).is_some()));
    allocates_nothing("a static policy", || assert!(ready(by_static(7)).is_ok()));
    allocates_nothing("a named policy", || assert!(named(7).is_ok()));
    allocates_nothing("async, a named policy", || {
        assert!(ready(named_async(7)).is_ok())
    });
    allocates_nothing("nested", || assert!(ready(outer(7)).is_ok()));
}

#[test]
fn blocks_and_runners() {
    allocates_nothing("retry_block!", || {
        let answer = retry_block!(timer = Unused, on(_), || -> Result<u32, RetryError<u32>> {
            Ok(7)
        });
        assert!(answer.is_ok());
    });
    allocates_nothing("async retry_block!", || {
        let answer = retry_block!(
            timer = Unused,
            on(_),
            async || -> Result<u32, RetryError<u32>> { Ok(7) }
        );
        assert!(ready(answer).is_ok());
    });
    allocates_nothing("Runner", || {
        let runner = POLICY.on(|_: &u32| true).timer(Unused);
        assert!(runner.try_run(|| Ok(7)).is_ok());
    });
    allocates_nothing("async Runner", || {
        let runner = POLICY.on(|_: &u32| true).timer(Unused);
        assert!(ready(runner.try_run_async(|| at_once(Ok(7)))).is_ok());
    });
    let service = tower::service_fn(|number: u32| at_once(Ok::<_, Error>(number)));
    let mut service = RetryLayer::new(POLICY).timer(Unused).layer(service);
    allocates_nothing("RetryLayer", || assert!(ready(service.call(7)).is_ok()));
}
