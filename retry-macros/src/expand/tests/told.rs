//! What expansions tell observers.

use expect_test::expect;

use super::{IS_OBSERVED, attribute};

/// With the feature `observe`: how deep the retry lies, in a sync loop.
#[test]
fn a_sync_loop_that_tells() {
    IS_OBSERVED.set(true);
    attribute(
        "on(_)",
        "fn fetch(url: &str) -> Result<Page, FetchError> { get(url) }",
        &expect![[r#"
            ///
            /// **Retried:** Up to 3 attempts; delays of up to 100 ms, 200 ms, each drawn from 0 to that; at most 300 ms of waiting.
            fn fetch(url: &str) -> Result<Page, FetchError> {
                let mut call = ::reattempt::__private::Count::new();
                let mut inside = ::reattempt::__private::InsideTold::new();
                loop {
                    let outcome = ::reattempt::__private::attempt(|| -> Result<Page, FetchError> {
                        get(url)
                    });
                    let error = match ::reattempt::__private::split(outcome, &call) {
                        ::core::result::Result::Ok(answer) => break answer,
                        ::core::result::Result::Err(error) => error,
                    };
                    inside.leave();
                    let verdict = ::reattempt::__private::verdict(
                        ::reattempt::Cause::Error(&error),
                        |error| ::reattempt::__private::judge(
                            error,
                            |error| ::core::matches!(error, _),
                        ),
                    );
                    ::reattempt::__private::note(
                        &call,
                        const {
                            &::reattempt::Operation::new(
                                ::core::concat!(::core::module_path!(), "::", "fetch"),
                                ::reattempt::Policy::new(),
                            )
                        },
                        ::reattempt::__private::Here,
                        ::reattempt::Cause::Error(&error),
                        |error| {
                            use ::reattempt::__private::{
                                NoWords as _, WordsByDebug as _, WordsByDisplay as _,
                            };
                            (&&::reattempt::__private::Words(error)).reattempt_words()
                        },
                    );
                    match ::reattempt::__private::wait(
                        &mut call,
                        const {
                            &::reattempt::Operation::new(
                                ::core::concat!(::core::module_path!(), "::", "fetch"),
                                ::reattempt::Policy::new(),
                            )
                        },
                        ::reattempt::__private::Until::NEVER,
                        &::reattempt::__private::BLOCKING_TIMER,
                        verdict,
                        &mut (),
                    ) {
                        ::core::result::Result::Ok(()) => {
                            inside
                                .enter(
                                    &call,
                                    const {
                                        &::reattempt::Operation::new(
                                            ::core::concat!(::core::module_path!(), "::", "fetch"),
                                            ::reattempt::Policy::new(),
                                        )
                                    },
                                    ::reattempt::__private::Here,
                                );
                        }
                        ::core::result::Result::Err(_) => break ::reattempt::__private::fail(error),
                    }
                }
            }
        "#]],
    );
    IS_OBSERVED.set(false);
}

/// In an async one what the second place and the step are told.
#[test]
fn an_async_loop_that_tells() {
    IS_OBSERVED.set(true);
    attribute(
        "on(_)",
        "async fn fetch(url: &str) -> Result<Page, FetchError> { get(url).await }",
        &expect![[r#"
            ///
            /// **Retried:** Up to 3 attempts; delays of up to 100 ms, 200 ms, each drawn from 0 to that; at most 300 ms of waiting.
            async fn fetch(url: &str) -> Result<Page, FetchError> {
                let mut call = ::reattempt::__private::Count::new();
                let mut first = true;
                loop {
                    let pause = {
                        let attempt = async {
                            if let ::core::option::Option::Some(outcome) = ::reattempt::__private::never::<
                                Result<Page, FetchError>,
                            >() {
                                return outcome;
                            }
                            get(url).await
                        };
                        let (error, began) = if first {
                            let outcome = attempt.await;
                            (
                                match ::reattempt::__private::split(outcome, &call) {
                                    ::core::result::Result::Ok(answer) => break answer,
                                    ::core::result::Result::Err(error) => error,
                                },
                                ::reattempt::__private::Began::UNKNOWN,
                            )
                        } else {
                            let (outcome, began) = ::reattempt::__private::again_told(attempt, call)
                                .await;
                            (
                                match ::reattempt::__private::split(outcome, &call) {
                                    ::core::result::Result::Ok(answer) => {
                                        break ::reattempt::__private::recovered(
                                            answer,
                                            &call,
                                            const {
                                                &::reattempt::Operation::new(
                                                    ::core::concat!(::core::module_path!(), "::", "fetch"),
                                                    ::reattempt::Policy::new(),
                                                )
                                            },
                                            began,
                                        );
                                    }
                                    ::core::result::Result::Err(error) => error,
                                },
                                began,
                            )
                        };
                        let verdict = ::reattempt::__private::verdict(
                            ::reattempt::Cause::Error(&error),
                            |error| ::reattempt::__private::judge(
                                error,
                                |error| ::core::matches!(error, _),
                            ),
                        );
                        match ::reattempt::__private::pause_told(
                            error,
                            &mut call,
                            const {
                                &::reattempt::Operation::new(
                                    ::core::concat!(::core::module_path!(), "::", "fetch"),
                                    ::reattempt::Policy::new(),
                                )
                            },
                            ::reattempt::__private::Until::NEVER,
                            &::reattempt::__private::ASYNC_TIMER,
                            verdict,
                            &mut (),
                            began,
                            |error| {
                                use ::reattempt::__private::{
                                    NoWords as _, WordsByDebug as _, WordsByDisplay as _,
                                };
                                (&&::reattempt::__private::Words(error)).reattempt_words()
                            },
                        ) {
                            ::core::result::Result::Ok(pause) => pause,
                            ::core::result::Result::Err((error, _)) => {
                                break ::reattempt::__private::fail(error);
                            }
                        }
                    };
                    pause.await;
                    first = false;
                }
            }
        "#]],
    );
    IS_OBSERVED.set(false);
}
