//! One policy, written in all ways that a program can choose from.

/// An attribute with these keys, on a function that gives this answer. `script` has the policy.
macro_rules! attribute {
    ($policy:expr, [$answer:ty] |$script:ident| { $($keys:tt)* }) => {
        Way {
            name: stringify!($answer, $($keys)*),
            policy: $policy,
            call: {
                #[retry($($keys)*)]
                async fn call($script: &Script) -> $answer {
                    $script.attempt().await
                }
                Call::Async(|script| Box::pin(async move { call(&script).await.into() }))
            },
        }
    };
    (blocking $policy:expr, [$answer:ty] |$script:ident| { $($keys:tt)* }) => {
        Way {
            name: stringify!($answer, blocking, $($keys)*),
            policy: $policy,
            call: {
                #[retry($($keys)*)]
                fn call($script: &Script) -> $answer {
                    $script.attempt_blocking()
                }
                Call::Blocking(|script| call(script).into())
            },
        }
    };
}

/// The block with a constant policy, and with one of the running program.
macro_rules! blocks {
    ($policy:ident, [$answer:ty] { $($keys:tt)* }) => {
        [
            Way {
                name: stringify!($answer, block of a constant, policy = $policy $($keys)*),
                policy: $policy,
                call: Call::Async(|script| Box::pin(async move {
                    let call = retry_block!(policy = $policy $($keys)*, async || -> $answer {
                        script.attempt().await
                    });
                    call.await.into()
                })),
            },
            Way {
                name: stringify!($answer, block, policy = $policy $($keys)*),
                policy: $policy,
                call: Call::Async(|script| Box::pin(async move {
                    let policy = script.policy;
                    let call = retry_block!(policy = policy $($keys)*, async || -> $answer {
                        script.attempt().await
                    });
                    call.await.into()
                })),
            },
        ]
    };
    (blocking $policy:ident, [$answer:ty] { $($keys:tt)* }) => {
        [
            Way {
                name: stringify!($answer, blocking block of a constant, policy = $policy $($keys)*),
                policy: $policy,
                call: Call::Blocking(|script| {
                    let answer = retry_block!(policy = $policy $($keys)*, || -> $answer {
                        script.attempt_blocking()
                    });
                    answer.into()
                }),
            },
            Way {
                name: stringify!($answer, blocking block, policy = $policy $($keys)*),
                policy: $policy,
                call: Call::Blocking(|script| {
                    let policy = script.policy;
                    let answer = retry_block!(policy = policy $($keys)*, || -> $answer {
                        script.attempt_blocking()
                    });
                    answer.into()
                }),
            },
        ]
    };
}

macro_rules! runner {
    ($policy:ident, [$answer:ty] $run:ident [$($method:tt)*]) => {
        Way {
            name: stringify!($answer, runner of $policy $($method)*),
            policy: $policy,
            call: Call::Async(|script| Box::pin(async move {
                let runner = script.policy.runner() $($method)*;
                let answer: $answer = runner.$run(|| script.attempt()).await;
                answer.into()
            })),
        }
    };
    (blocking $policy:ident, [$answer:ty] $run:ident [$($method:tt)*]) => {
        Way {
            name: stringify!($answer, blocking runner of $policy $($method)*),
            policy: $policy,
            call: Call::Blocking(|script| {
                let runner = script.policy.runner() $($method)*;
                let answer: $answer = runner.$run(|| script.attempt_blocking());
                answer.into()
            }),
        }
    };
}

/// All ways that give this answer and wait so: those without a limit of their own, and those with
/// one.
macro_rules! ways {
    ([$answer:ty] $run:ident, keys = [$($key:tt)*], methods = [$($method:tt)*]) => {{
        let without = vec![
            attribute!(PLAIN, [$answer] |script| { policy = PLAIN $($key)* }),
            attribute!(PLAIN, [$answer] |script| {
                max = 5, backoff = "fixed", base = "8ms", jitter = "none" $($key)*
            }),
            attribute!(PLAIN, [$answer] |script| { policy = script.policy $($key)* }),
            attribute!(PLAIN, [$answer] |script| { policy = "plain" $($key)* }),
            runner!(PLAIN, [$answer] $run [$($method)*]),
        ];
        let with = vec![
            attribute!(DEADLINE, [$answer] |script| { policy = DEADLINE $($key)* }),
            attribute!(PLAIN, [$answer] |script| { policy = PLAIN, deadline = "1s" $($key)* }),
            attribute!(PLAIN, [$answer] |script| {
                max = 5, backoff = "fixed", base = "8ms", jitter = "none", deadline = "1s" $($key)*
            }),
            attribute!(DEADLINE, [$answer] |script| { policy = script.policy $($key)* }),
            attribute!(PLAIN, [$answer] |script| {
                policy = script.policy, deadline = "1s" $($key)*
            }),
            attribute!(DEADLINE, [$answer] |script| { policy = "deadline" $($key)* }),
            attribute!(PLAIN, [$answer] |script| { policy = "plain", deadline = "1s" $($key)* }),
            runner!(DEADLINE, [$answer] $run [$($method)*]),
            attribute!(TIMEOUT, [$answer] |script| { policy = TIMEOUT $($key)* }),
            attribute!(PLAIN, [$answer] |script| { policy = PLAIN, timeout = "500ms" $($key)* }),
            attribute!(PLAIN, [$answer] |script| {
                max = 5, backoff = "fixed", base = "8ms", jitter = "none",
                timeout = "500ms" $($key)*
            }),
            attribute!(TIMEOUT, [$answer] |script| { policy = script.policy $($key)* }),
            attribute!(PLAIN, [$answer] |script| {
                policy = script.policy, timeout = "500ms" $($key)*
            }),
            attribute!(TIMEOUT, [$answer] |script| { policy = "timeout" $($key)* }),
            attribute!(PLAIN, [$answer] |script| { policy = "plain", timeout = "500ms" $($key)* }),
            runner!(TIMEOUT, [$answer] $run [$($method)*]),
        ];
        let without_in_blocks = blocks!(PLAIN, [$answer] { $($key)* });
        let with_in_blocks =
            [blocks!(DEADLINE, [$answer] { $($key)* }), blocks!(TIMEOUT, [$answer] { $($key)* })];
        Ways {
            without: [without, without_in_blocks.into()].concat(),
            with: [with, with_in_blocks.concat()].concat(),
            budget: None,
        }
    }};
    (blocking [$answer:ty] $run:ident, keys = [$($key:tt)*], methods = [$($method:tt)*]) => {{
        let ways = vec![
            attribute!(blocking PLAIN, [$answer] |script| { policy = PLAIN $($key)* }),
            attribute!(blocking PLAIN, [$answer] |script| {
                max = 5, backoff = "fixed", base = "8ms", jitter = "none" $($key)*
            }),
            attribute!(blocking PLAIN, [$answer] |script| { policy = script.policy $($key)* }),
            attribute!(blocking PLAIN, [$answer] |script| { policy = "plain" $($key)* }),
            runner!(blocking PLAIN, [$answer] $run [$($method)*]),
            attribute!(blocking DEADLINE, [$answer] |script| { policy = DEADLINE $($key)* }),
            attribute!(blocking PLAIN, [$answer] |script| {
                policy = PLAIN, deadline = "1s" $($key)*
            }),
            attribute!(blocking PLAIN, [$answer] |script| {
                max = 5, backoff = "fixed", base = "8ms", jitter = "none", deadline = "1s" $($key)*
            }),
            attribute!(blocking DEADLINE, [$answer] |script| { policy = script.policy $($key)* }),
            attribute!(blocking PLAIN, [$answer] |script| {
                policy = script.policy, deadline = "1s" $($key)*
            }),
            attribute!(blocking DEADLINE, [$answer] |script| { policy = "deadline" $($key)* }),
            attribute!(blocking PLAIN, [$answer] |script| {
                policy = "plain", deadline = "1s" $($key)*
            }),
            runner!(blocking DEADLINE, [$answer] $run [$($method)*]),
        ];
        let blocks = [
            blocks!(blocking PLAIN, [$answer] { $($key)* }),
            blocks!(blocking DEADLINE, [$answer] { $($key)* }),
        ];
        // Nothing cuts an attempt off that blocks its thread.
        Ways {
            without: [ways, blocks.concat()].concat(),
            with: Vec::new(),
            budget: None,
        }
    }};
}

pub(super) use {attribute, blocks, runner, ways};
