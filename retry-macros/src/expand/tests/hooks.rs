//! The closures of the user in an expansion.

use expect_test::expect;

use super::attribute;

#[test]
#[expect(clippy::too_many_lines, reason = "it is one expansion")]
fn every_hook() {
    attribute(
        r#"max = 4, base = "50ms", deadline = "2s", on(Error::Busy | Error::Lost(_) if cold), except = is_final,
           context = attempt, clone(name), on_retry = |retry| log(retry), before_retry = async |_| renew().await,
           fallback = |_| cached(), crate = ::again"#,
        "async fn fetch(name: String) -> Result<Page, Failed<Error>> { get(name, attempt).await }",
        &expect![[r#"
            ///
            /// **Retried:** Up to 4 attempts; delays of up to 50 ms, 100 ms, 200 ms, each drawn from 0 to that; at most 350 ms of waiting; 2 s for all attempts and delays together.
            async fn fetch(name: String) -> Result<Page, Failed<Error>> {
                let until = ::again::__private::Until::start(
                    ::again::Operation::policy(const {
                        &::again::Operation::new(
                            ::core::concat!(::core::module_path!(), "::", "fetch"),
                            ::again::Policy::new()
                                .max(4u32)
                                .base(::core::time::Duration::new(0u64, 50000000u32))
                                .deadline(::core::time::Duration::new(2u64, 0u32)),
                        )
                    }),
                    &::again::__private::ASYNC_TIMER,
                );
                let started = ::again::__private::Started::now(&::again::__private::ASYNC_TIMER);
                let mut call = ::again::__private::Count::new();
                let answer = 'answer: {
                    let end: Result<Page, Failed<Error>> = loop {
                        {
                            let failures = ::again::__private::Progress::failures(call);
                            let attempt = ::again::__private::Started::attempt(
                                &started,
                                failures,
                                until,
                                &::again::__private::ASYNC_TIMER,
                            );
                            let outcome = ::again::__private::limited(
                                    async {
                                        if let ::core::option::Option::Some(outcome) = ::again::__private::never::<
                                            Result<Page, Error>,
                                        >() {
                                            return outcome;
                                        }
                                        let name = ::core::clone::Clone::clone(&name);
                                        get(name, attempt).await
                                    },
                                    until,
                                    call,
                                    ::again::__private::ASYNC_TIMER,
                                )
                                .await;
                            let cut = ::again::__private::cut();
                            let outcome = match ::again::__private::in_time(
                                outcome,
                                &call,
                                const {
                                    &::again::Operation::new(
                                        ::core::concat!(::core::module_path!(), "::", "fetch"),
                                        ::again::Policy::new()
                                            .max(4u32)
                                            .base(::core::time::Duration::new(0u64, 50000000u32))
                                            .deadline(::core::time::Duration::new(2u64, 0u32)),
                                    )
                                },
                                until,
                                &::again::__private::ASYNC_TIMER,
                                &mut (),
                            ) {
                                ::core::result::Result::Ok(outcome) => outcome,
                                ::core::result::Result::Err((_, end)) => break cut(end),
                            };
                            let error = match ::again::__private::split_limited_told(
                                outcome,
                                &call,
                            ) {
                                ::core::result::Result::Ok(answer) => break 'answer answer,
                                ::core::result::Result::Err(error) => error,
                            };
                            let cause = ::again::__private::cause_of(&error);
                            let verdict = ::again::__private::verdict(
                                cause,
                                |error| ::again::__private::unless(
                                    ::again::__private::exclude(error, is_final),
                                    || ::again::__private::judge(
                                        error,
                                        |error| {
                                            ::core::matches!(
                                                error, Error::Busy | Error::Lost(_) if cold
                                            )
                                        },
                                    ),
                                ),
                            );
                            match ::again::__private::failed(
                                &mut call,
                                const {
                                    &::again::Operation::new(
                                        ::core::concat!(::core::module_path!(), "::", "fetch"),
                                        ::again::Policy::new()
                                            .max(4u32)
                                            .base(::core::time::Duration::new(0u64, 50000000u32))
                                            .deadline(::core::time::Duration::new(2u64, 0u32)),
                                    )
                                },
                                until,
                                &::again::__private::ASYNC_TIMER,
                                cause,
                                verdict,
                                &mut (),
                            ) {
                                ::core::result::Result::Ok(retry) => {
                                    ::again::__private::hooked(
                                        until,
                                        &::again::__private::ASYNC_TIMER,
                                        || ::again::__private::observe(&retry, |retry| log(retry)),
                                    );
                                    ::again::__private::pause(
                                            ::again::Retry::delay(&retry),
                                            &::again::__private::ASYNC_TIMER,
                                        )
                                        .await;
                                    let () = {
                                        let reply = ::again::__private::limited_hook(
                                                {
                                                    use ::again::__private::{
                                                        SettleFuture as _, SettleValue as _,
                                                    };
                                                    ::again::__private::Reply(
                                                            ::core::option::Option::Some(
                                                                ::again::__private::hooked(
                                                                    until,
                                                                    &::again::__private::ASYNC_TIMER,
                                                                    || ::again::__private::before(
                                                                        &retry,
                                                                        async |_| renew().await,
                                                                    ),
                                                                ),
                                                            ),
                                                        )
                                                        .reattempt_settle()
                                                },
                                                until,
                                                ::again::__private::ASYNC_TIMER,
                                            )
                                            .await;
                                        match reply {
                                            ::core::result::Result::Ok(reply) => reply,
                                            ::core::result::Result::Err(_) => {
                                                let end = ::again::__private::over(
                                                    &call,
                                                    const {
                                                        &::again::Operation::new(
                                                            ::core::concat!(::core::module_path!(), "::", "fetch"),
                                                            ::again::Policy::new()
                                                                .max(4u32)
                                                                .base(::core::time::Duration::new(0u64, 50000000u32))
                                                                .deadline(::core::time::Duration::new(2u64, 0u32)),
                                                        )
                                                    },
                                                );
                                                break ::again::__private::tell_limited(error, end);
                                            }
                                        }
                                    };
                                    if ::again::__private::is_over(
                                        until,
                                        &::again::__private::ASYNC_TIMER,
                                    ) {
                                        let end = ::again::__private::over(
                                            &call,
                                            const {
                                                &::again::Operation::new(
                                                    ::core::concat!(::core::module_path!(), "::", "fetch"),
                                                    ::again::Policy::new()
                                                        .max(4u32)
                                                        .base(::core::time::Duration::new(0u64, 50000000u32))
                                                        .deadline(::core::time::Duration::new(2u64, 0u32)),
                                                )
                                            },
                                        );
                                        break ::again::__private::tell_limited(error, end);
                                    }
                                }
                                ::core::result::Result::Err(end) => {
                                    break ::again::__private::tell_limited(error, end);
                                }
                            }
                        };
                    };
                    match ::again::__private::fall_back(end, |_| cached()) {
                        ::core::result::Result::Ok(answer) => answer,
                        ::core::result::Result::Err(value) => {
                            ::again::__private::Answer::answer(
                                {
                                    use ::again::__private::{SettleFuture as _, SettleValue as _};
                                    ::again::__private::Reply(::core::option::Option::Some(value))
                                        .reattempt_settle()
                                }
                                    .await,
                            )
                        }
                    }
                };
                ::core::mem::drop((name,));
                answer
            }
        "#]],
    );
}

/// What a strategy is asked is a statement of its own, before the step is taken apart.
#[test]
fn a_strategy() {
    attribute(
        "strategy = &self.strategy, on(_), deadline = \"5s\"",
        "fn fetch(&mut self) -> Result<Page, FetchError> { self.get() }",
        &expect![[r#"
            ///
            /// **Retried:** Attempts and delays as its strategy says; 5 s for all attempts and delays together.
            fn fetch(&mut self) -> Result<Page, FetchError> {
                let until = ::reattempt::__private::Until::start(
                    ::reattempt::Operation::policy(const {
                        &::reattempt::Operation::new(
                            ::core::concat!(::core::module_path!(), "::", "fetch"),
                            ::reattempt::Policy::new()
                                .decided()
                                .deadline(::core::time::Duration::new(5u64, 0u32)),
                        )
                    }),
                    &::reattempt::__private::BLOCKING_TIMER,
                );
                let mut call = ::reattempt::__private::Count::new();
                let mut state = ::core::option::Option::None;
                loop {
                    let outcome = ::reattempt::__private::attempt_until(
                        call,
                        until,
                        &::reattempt::__private::BLOCKING_TIMER,
                        || -> Result<Page, FetchError> { self.get() },
                    );
                    let error = match ::reattempt::__private::split(outcome, &call) {
                        ::core::result::Result::Ok(answer) => break answer,
                        ::core::result::Result::Err(error) => error,
                    };
                    let cause = ::reattempt::Cause::Error(&error);
                    let verdict = ::reattempt::__private::verdict(
                        cause,
                        |error| ::reattempt::__private::judge(
                            error,
                            |error| ::core::matches!(error, _),
                        ),
                    );
                    let step = ::reattempt::__private::decided(
                        &mut call,
                        const {
                            &::reattempt::Operation::new(
                                ::core::concat!(::core::module_path!(), "::", "fetch"),
                                ::reattempt::Policy::new()
                                    .decided()
                                    .deadline(::core::time::Duration::new(5u64, 0u32)),
                            )
                        },
                        until,
                        &::reattempt::__private::BLOCKING_TIMER,
                        cause,
                        verdict,
                        &mut (),
                        &mut state,
                        &(&self.strategy),
                    );
                    match step {
                        ::core::result::Result::Ok(retry) => {
                            ::reattempt::__private::sleep(
                                ::reattempt::Retry::delay(&retry),
                                &::reattempt::__private::BLOCKING_TIMER,
                            );
                            if ::reattempt::__private::is_over(
                                until,
                                &::reattempt::__private::BLOCKING_TIMER,
                            ) {
                                let _ = ::reattempt::__private::over(
                                    &call,
                                    const {
                                        &::reattempt::Operation::new(
                                            ::core::concat!(::core::module_path!(), "::", "fetch"),
                                            ::reattempt::Policy::new()
                                                .decided()
                                                .deadline(::core::time::Duration::new(5u64, 0u32)),
                                        )
                                    },
                                );
                                break ::reattempt::__private::fail(error);
                            }
                        }
                        ::core::result::Result::Err(_) => break ::reattempt::__private::fail(error),
                    }
                }
            }
        "#]],
    );
}
