//! The operations of all tests: the session of the guide, its request, and the layers of a chain.

use reattempt::timer::DefaultTimer;
use reattempt::tower::RetryLayer;
use reattempt::{Policy, retry, retry_block};
use tower::{Layer as _, ServiceExt as _, service_fn};

use crate::clock::{Time, ms};
use crate::forms::{Form, blocking_forms, forms};
use crate::service::{
    Answer, BlockingOperation, BlockingStack, Fault, Health, Operation, Service, Stack,
};

/// The operations that wait by one timer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operations {
    /// They connect, and then make ten requests. The first connection fails.
    pub(crate) sessions: &'static [Form<Operation>],
    /// The same, but the first connection is being retried when a time-out ends the attempt.
    pub(crate) cut_off: Form<Operation>,
    pub(crate) request: &'static [Form<Operation>],
    /// It drops what it calls after 10 ms.
    pub(crate) impatient: Operation,
    pub(crate) layers: [&'static [Form<Operation>]; 3],
    /// Layers of which each cancels the next.
    pub(crate) cancelling: [Operation; 3],
}

async fn session(stack: &Stack) -> Answer {
    stack.service.connect().await?;
    requests(stack).await
}

async fn requests(stack: &Stack) -> Answer {
    for _ in 0..10 {
        stack.next().await?;
    }
    Ok(())
}

async fn next(stack: &Stack) -> Answer {
    stack.next().await
}

macro_rules! operations {
    ($all:ident: timer = $timer:expr, keys = [$($key:tt)*]) => {
        pub(crate) const $all: Operations = {
            forms!(SESSION: session, timer = $timer, keys = [$($key)*], max = 20, hedge = "30s");
            // Copies of the slower requests start.
            forms!(REQUEST: next, timer = $timer, keys = [$($key)*], max = 5, hedge = "3ms");
            forms!(HANDLER: next, timer = $timer, keys = [$($key)*], max = 5, hedge = "30s");
            forms!(CLIENT: next, timer = $timer, keys = [$($key)*], max = 5, hedge = "30s");
            forms!(CONNECT: next, timer = $timer, keys = [$($key)*], max = 5, hedge = "30s");

            #[retry(max = 20, base = "1ms", cap = "8ms", timeout = "300ms", on(_) $($key)*)]
            async fn cut_off(stack: &Stack) -> Answer {
                if stack.service.begins() == 1 {
                    let _dropped = hangs(&Service::new(Health::Hangs)).await;
                }
                requests(stack).await
            }
            #[retry(max = 5, base = "1ms", on(_) $($key)*)]
            async fn hangs(service: &Service) -> Answer {
                service.request().await
            }
            #[retry(max = 2, base = "1ms", timeout = "10ms", on(_) $($key)*)]
            async fn impatient(stack: &Stack) -> Answer {
                stack.next().await
            }
            #[retry(max = 5, base = "1ms", cap = "8ms", timeout = "50ms", on(_) $($key)*)]
            async fn handler(stack: &Stack) -> Answer {
                stack.next().await
            }
            #[retry(max = 5, base = "1ms", cap = "8ms", timeout = "20ms", on(_) $($key)*)]
            async fn client(stack: &Stack) -> Answer {
                stack.next().await
            }
            Operations {
                sessions: SESSION,
                cut_off: ("cut off", |stack| Box::pin(async move { cut_off(&stack).await })),
                request: REQUEST,
                impatient: |stack| Box::pin(async move { impatient(&stack).await }),
                layers: [HANDLER, CLIENT, CONNECT],
                cancelling: [
                    |stack| Box::pin(async move { handler(&stack).await }),
                    |stack| Box::pin(async move { client(&stack).await }),
                    CONNECT[0].1,
                ],
            }
        };
    };
}

operations!(ON_TOKIO: timer = DefaultTimer, keys = []);
operations!(ELSEWHERE: timer = Time, keys = [, timer = Time]);

blocking_forms!(HANDLER);
blocking_forms!(CLIENT);
blocking_forms!(CONNECT);

/// The layers of a chain that blocks its thread.
pub(crate) const BLOCKING: [&[Form<BlockingOperation>]; 3] = [HANDLER, CLIENT, CONNECT];
