//! The forms of an operation: who retries it. Each use of a macro makes one operation in all of its
//! forms.

/// What an operation is called in this form, and its call.
pub(crate) type Form<O> = (&'static str, O);

/// An async operation. `timer` and `keys` say twice how it waits, for runners and for attributes.
macro_rules! forms {
    (
        $all:ident: $body:expr, timer = $timer:expr, keys = [$($key:tt)*],
        max = $max:literal, hedge = $hedge:literal
    ) => {
        pub(crate) const $all: &[$crate::forms::Form<$crate::service::Operation>] = {
            const POLICY: Policy = Policy::new().max($max).base(ms(1)).cap(ms(8));
            const LIMITED: Policy = POLICY.timeout(ms(30_000));
            // Its type says at once that it is a `Result`; of `Answer` only the compiler knows.
            #[retry(max = $max, base = "1ms", cap = "8ms", on(_) $($key)*)]
            async fn plain(stack: &Stack) -> Result<(), Fault> {
                $body(stack).await
            }
            #[retry(max = $max, base = "1ms", cap = "8ms", timeout = "30s", on(_) $($key)*)]
            async fn limited(stack: &Stack) -> Answer {
                $body(stack).await
            }
            #[retry(max = $max, base = "1ms", cap = "8ms", hedge = $hedge, on(_) $($key)*)]
            async fn hedged(stack: &Stack) -> Answer {
                $body(stack).await
            }
            async fn block(stack: &Stack) -> Answer {
                retry_block!(policy = POLICY, on(_) $($key)*, async || -> Answer {
                    $body(stack).await
                })
                .await
            }
            async fn runner(stack: &Stack, policy: Policy, name: &'static str) -> Answer {
                let runner = policy.runner().name(name).timer($timer);
                runner.run_async(|| $body(stack)).await
            }
            async fn layer(stack: Stack) -> Answer {
                let layer = RetryLayer::new(POLICY).name(concat!(stringify!($all), " layer"));
                let service = service_fn(async |stack: Stack| $body(&stack).await);
                layer.timer($timer).layer(service).oneshot(stack).await
            }
            &[
                ("attribute", |stack| Box::pin(async move { plain(&stack).await })),
                ("`timeout`", |stack| Box::pin(async move { limited(&stack).await })),
                ("`hedge`", |stack| Box::pin(async move { hedged(&stack).await })),
                ("block", |stack| Box::pin(async move { block(&stack).await })),
                ("runner", |stack| {
                    Box::pin(async move { runner(&stack, POLICY, stringify!($all)).await })
                }),
                ("runner with `timeout`", |stack| {
                    let name = concat!(stringify!($all), " limited");
                    Box::pin(async move { runner(&stack, LIMITED, name).await })
                }),
                ("layer", |stack| Box::pin(layer(stack))),
            ]
        };
    };
}
pub(crate) use forms;

/// A sync operation.
macro_rules! blocking_forms {
    ($all:ident) => {
        pub(crate) const $all: &[$crate::forms::Form<$crate::service::BlockingOperation>] = {
            const POLICY: Policy = Policy::new().max(5).base(ms(1)).cap(ms(8));
            #[retry(max = 5, base = "1ms", cap = "8ms", on(_), timer = Time)]
            fn plain(stack: &BlockingStack) -> Result<(), Fault> {
                stack.next()
            }
            #[retry(max = 5, base = "1ms", cap = "8ms", deadline = "30s", on(_), timer = Time)]
            fn limited(stack: &BlockingStack) -> Answer {
                stack.next()
            }
            fn block(stack: &BlockingStack) -> Answer {
                retry_block!(policy = POLICY, on(_), timer = Time, || -> Answer {
                    stack.next()
                })
            }
            fn runner(stack: &BlockingStack) -> Answer {
                let runner = POLICY.runner().name(concat!("blocking ", stringify!($all)));
                runner.timer(Time).run(|| stack.next())
            }
            &[
                ("attribute", |stack| plain(stack)),
                ("`deadline`", |stack| limited(stack)),
                ("block", |stack| block(stack)),
                ("runner", |stack| runner(stack)),
            ]
        };
    };
}
pub(crate) use blocking_forms;
