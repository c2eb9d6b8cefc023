//! What typical uses expand to: small enough to read, and stable.

use std::cell::Cell;

use expect_test::{Expect, expect};
use proc_macro2::TokenStream;

thread_local! {
    /// Whether expansions tell observers, whatever the features of this build.
    pub(super) static IS_OBSERVED: Cell<bool> = const { Cell::new(false) };
}

fn shown(tokens: &TokenStream) -> String {
    match syn::parse2(tokens.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        Err(error) => panic!("{error} in {tokens}"),
    }
}

fn parse(text: &str) -> TokenStream {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn attribute(arguments: &str, item: &str, expected: &Expect) {
    let text = shown(&super::attribute(&parse(arguments), parse(item)));
    expected.assert_eq(&text);
}

#[test]
fn sync_function() {
    attribute(
        r#"max = 5, backoff = "exp", jitter = 0.2, on = is_transient"#,
        "/// Fetches.\npub fn fetch(url: &str) -> Result<Page, FetchError> { client().get(url)? .page() }",
        &expect![[r#"
            /// Fetches.
            ///
            /// **Retried:** Up to 5 attempts; delays of about 100 ms, 200 ms, 400 ms, 800 ms, each +/-20 %; at most 1.8 s of waiting.
            pub fn fetch(url: &str) -> Result<Page, FetchError> {
                let mut call = ::reattempt::__private::Count::new();
                let mut inside = ::reattempt::__private::Inside::new();
                loop {
                    let outcome = ::reattempt::__private::attempt(|| -> Result<Page, FetchError> {
                        client().get(url)?.page()
                    });
                    let error = match ::reattempt::__private::split(outcome, &call) {
                        ::core::result::Result::Ok(answer) => break answer,
                        ::core::result::Result::Err(error) => error,
                    };
                    inside.leave();
                    let verdict = ::reattempt::__private::verdict(
                        ::reattempt::Cause::Error(&error),
                        |error| ::reattempt::__private::judge(error, is_transient),
                    );
                    match ::reattempt::__private::wait(
                        &mut call,
                        const {
                            &::reattempt::Operation::new(
                                ::core::concat!(::core::module_path!(), "::", "fetch"),
                                ::reattempt::Policy::new()
                                    .max(5u32)
                                    .backoff(::reattempt::Shape::Exp)
                                    .jitter(::reattempt::Jitter::Ratio(0.2f64)),
                            )
                        },
                        ::reattempt::__private::Until::NEVER,
                        &::reattempt::__private::BLOCKING_TIMER,
                        verdict,
                        &mut (),
                    ) {
                        ::core::result::Result::Ok(()) => {
                            inside.enter(call);
                        }
                        ::core::result::Result::Err(_) => break ::reattempt::__private::fail(error),
                    }
                }
            }
        "#]],
    );
}

#[test]
fn async_function() {
    attribute(
        r#"max = 5, backoff = "exp", jitter = 0.2, on = is_transient"#,
        "async fn fetch(client: &Client, url: &str) -> Result<Page, FetchError> { client.get(url).await?.page() }",
        &expect![[r#"
            ///
            /// **Retried:** Up to 5 attempts; delays of about 100 ms, 200 ms, 400 ms, 800 ms, each +/-20 %; at most 1.8 s of waiting.
            async fn fetch(client: &Client, url: &str) -> Result<Page, FetchError> {
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
                            client.get(url).await?.page()
                        };
                        let error = if first {
                            let outcome = attempt.await;
                            match ::reattempt::__private::split(outcome, &call) {
                                ::core::result::Result::Ok(answer) => break answer,
                                ::core::result::Result::Err(error) => error,
                            }
                        } else {
                            let outcome = ::reattempt::__private::again(attempt, call).await;
                            match ::reattempt::__private::split(outcome, &call) {
                                ::core::result::Result::Ok(answer) => break answer,
                                ::core::result::Result::Err(error) => error,
                            }
                        };
                        let verdict = ::reattempt::__private::verdict(
                            ::reattempt::Cause::Error(&error),
                            |error| ::reattempt::__private::judge(error, is_transient),
                        );
                        match ::reattempt::__private::pause_after(
                            error,
                            &mut call,
                            const {
                                &::reattempt::Operation::new(
                                    ::core::concat!(::core::module_path!(), "::", "fetch"),
                                    ::reattempt::Policy::new()
                                        .max(5u32)
                                        .backoff(::reattempt::Shape::Exp)
                                        .jitter(::reattempt::Jitter::Ratio(0.2f64)),
                                )
                            },
                            ::reattempt::__private::Until::NEVER,
                            &::reattempt::__private::ASYNC_TIMER,
                            verdict,
                            &mut (),
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
}

/// With the feature `observe`: a flag in a sync loop.
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

/// `retry_after` is one question more, after all that decides about a retry.
#[test]
fn a_delay_that_the_error_asks_for() {
    let item = "fn fetch(&self) -> Result<Page, FetchError> { self.get() }";
    let expanded = |arguments: &str| shown(&super::attribute(&parse(arguments), parse(item)));
    let without = expanded("on(_)");
    let with = expanded("on(_), retry_after = FetchError::wait");
    let place = without.find("        match ::reattempt::__private::wait(");
    let (before, after) = without.split_at(place.unwrap_or_default());
    let added = with
        .strip_prefix(before)
        .and_then(|rest| rest.strip_suffix(after));
    let added: Vec<_> = added.unwrap_or(&with).lines().map(str::trim).collect();
    expect![[r#"
        let verdict = ::reattempt::__private::retry_after(
        const {
        &::reattempt::Operation::new(
        ::core::concat!(::core::module_path!(), "::", "fetch"),
        ::reattempt::Policy::new(),
        )
        },
        ::reattempt::Cause::Error(&error),
        verdict,
        FetchError::wait,
        );"#]]
    .assert_eq(&added.join("\n"));
}

/// A typical attribute stays readable.
#[test]
fn the_expansion_is_small() {
    let arguments = r#"max = 5, backoff = "exp", jitter = 0.2, on = is_transient"#;
    for item in [
        "fn fetch(url: &str) -> Result<Page, FetchError> { client().get(url) }",
        "async fn fetch(client: &Client, url: &str) -> Result<Page, FetchError> { client.get(url).await }",
    ] {
        let text = shown(&super::attribute(&parse(arguments), parse(item)));
        assert!(
            text.lines().count() < 60,
            "{} lines:\n{text}",
            text.lines().count()
        );
    }
}

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

#[test]
fn a_refused_function_is_still_there() {
    attribute(
        "max = 0",
        "fn fetch() -> Result<(), Error> { Ok(()) }",
        &expect![[r#"
            fn fetch() -> Result<(), Error> {
                Ok(())
            }
            ::core::compile_error! {
                "`max` counts the first attempt too, so 0 would never call at all; write `max = 1` for no retry or `max = 3` for two"
            }
        "#]],
    );
}

/// As if the feature `config` were on.
fn configured(arguments: &str, item: &str, expected: &Expect) {
    crate::config::with(|| attribute(arguments, item, expected));
}

#[test]
fn a_policy_with_a_name() {
    configured(
        r#"policy = "storage", max = 4, on(_)"#,
        "fn fetch(url: &str) -> Result<Page, FetchError> { client().get(url) }",
        &expect![[r#"
            ///
            /// **Retried** by the policy `storage` of the configuration; where that says nothing: Up to 4 attempts; delays of up to 100 ms, 200 ms, 400 ms, each drawn from 0 to that; at most 700 ms of waiting.
            fn fetch(url: &str) -> Result<Page, FetchError> {
                static __REATTEMPT_SITE: ::reattempt::__private::Site = ::reattempt::__private::Site::new(
                    ::core::concat!(::core::module_path!(), "::", "fetch"),
                    "storage",
                    ::reattempt::Policy::new().max(4u32),
                );
                let mut operation = ::reattempt::__private::Site::call(&__REATTEMPT_SITE);
                let until = ::reattempt::__private::until_named(
                    (&operation),
                    &::reattempt::__private::BLOCKING_TIMER,
                );
                let mut limits = ::reattempt::__private::guards(
                    (),
                    (),
                    ::reattempt::__private::paying_named((&operation)),
                    (&operation),
                    &::reattempt::__private::BLOCKING_TIMER,
                );
                let mut call = ::reattempt::Call::new();
                loop {
                    let outcome = ::reattempt::__private::attempt_named(
                        &operation,
                        &call,
                        until,
                        &::reattempt::__private::BLOCKING_TIMER,
                        || -> Result<Page, FetchError> { client().get(url) },
                    );
                    let error = match ::reattempt::__private::split(outcome, &call) {
                        ::core::result::Result::Ok(answer) => {
                            break ::reattempt::__private::answered_named(
                                answer,
                                &mut limits,
                                (&operation),
                                &::reattempt::__private::BLOCKING_TIMER,
                            );
                        }
                        ::core::result::Result::Err(error) => error,
                    };
                    operation = ::reattempt::__private::Site::renew(&__REATTEMPT_SITE, operation);
                    let verdict = ::reattempt::__private::verdict(
                        ::reattempt::Cause::Error(&error),
                        |error| ::reattempt::__private::judge(
                            error,
                            |error| ::core::matches!(error, _),
                        ),
                    );
                    match ::reattempt::__private::wait_named(
                        &mut call,
                        (&operation),
                        until,
                        &::reattempt::__private::BLOCKING_TIMER,
                        verdict,
                        &mut limits,
                    ) {
                        ::core::result::Result::Ok(()) => {
                            ::reattempt::__private::begun(
                                &mut limits,
                                &::reattempt::__private::BLOCKING_TIMER,
                            );
                        }
                        ::core::result::Result::Err(_) => break ::reattempt::__private::fail(error),
                    }
                }
            }
        "#]],
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "all that it expands to")]
fn a_policy_with_a_name_in_an_async_function() {
    configured(
        r#"policy = "storage", max = 4, on(_)"#,
        "async fn fetch(url: &str) -> Result<Page, FetchError> { client().get(url).await }",
        &expect![[r#"
            ///
            /// **Retried** by the policy `storage` of the configuration; where that says nothing: Up to 4 attempts; delays of up to 100 ms, 200 ms, 400 ms, each drawn from 0 to that; at most 700 ms of waiting.
            async fn fetch(url: &str) -> Result<Page, FetchError> {
                static __REATTEMPT_SITE: ::reattempt::__private::Site = ::reattempt::__private::Site::new(
                    ::core::concat!(::core::module_path!(), "::", "fetch"),
                    "storage",
                    ::reattempt::Policy::new().max(4u32),
                );
                let mut operation = ::reattempt::__private::Site::call(&__REATTEMPT_SITE);
                let until = ::reattempt::__private::until_named(
                    (&operation),
                    &::reattempt::__private::ASYNC_TIMER,
                );
                let mut limits = ::reattempt::__private::guards(
                    (),
                    (),
                    ::reattempt::__private::paying_named((&operation)),
                    (&operation),
                    &::reattempt::__private::ASYNC_TIMER,
                );
                let mut call = ::reattempt::Call::new();
                loop {
                    let (pause, kept) = {
                        let outcome = {
                            let attempt = async {
                                if let ::core::option::Option::Some(outcome) = ::reattempt::__private::never::<
                                    Result<Page, FetchError>,
                                >() {
                                    return outcome;
                                }
                                client().get(url).await
                            };
                            if ::reattempt::__private::Live::is_idle(&operation) {
                                ::core::result::Result::Ok(attempt.await)
                            } else {
                                {
                                    use ::reattempt::__private::{MayCut as _, NeverCuts as _};
                                    ::reattempt::__private::Either(
                                            ::core::option::Option::Some(attempt),
                                        )
                                        .reattempt_limited(
                                            ::reattempt::__private::Until::of_attempt(
                                                until,
                                                ::reattempt::Operation::policy((&operation)),
                                                &::reattempt::__private::ASYNC_TIMER,
                                            ),
                                            until,
                                            call,
                                            ::reattempt::__private::ASYNC_TIMER,
                                        )
                                }
                                    .await
                            }
                        };
                        if ::core::result::Result::is_err(&outcome) {
                            operation = ::reattempt::__private::Site::renew(
                                &__REATTEMPT_SITE,
                                operation,
                            );
                        }
                        let outcome = match ::reattempt::__private::in_time(
                            outcome,
                            &call,
                            (&operation),
                            until,
                            &::reattempt::__private::ASYNC_TIMER,
                            &mut limits,
                        ) {
                            ::core::result::Result::Ok(outcome) => outcome,
                            ::core::result::Result::Err((lost, end)) => {
                                break ::reattempt::__private::Lost::answer(lost, end);
                            }
                        };
                        let error = match ::reattempt::__private::split_limited(outcome, &call) {
                            ::core::result::Result::Ok(answer) => {
                                break ::reattempt::__private::answered_named(
                                    answer,
                                    &mut limits,
                                    (&operation),
                                    &::reattempt::__private::ASYNC_TIMER,
                                );
                            }
                            ::core::result::Result::Err(error) => error,
                        };
                        let cause = ::reattempt::__private::cause_of(&error);
                        operation = ::reattempt::__private::Site::renew(
                            &__REATTEMPT_SITE,
                            operation,
                        );
                        let verdict = ::reattempt::__private::verdict(
                            cause,
                            |error| ::reattempt::__private::judge(
                                error,
                                |error| ::core::matches!(error, _),
                            ),
                        );
                        match ::reattempt::__private::failed_named(
                            &mut call,
                            (&operation),
                            until,
                            &::reattempt::__private::ASYNC_TIMER,
                            cause,
                            verdict,
                            &mut limits,
                        ) {
                            ::core::result::Result::Ok(retry) => {
                                let pause = ::reattempt::__private::pause(
                                    ::reattempt::Retry::delay(&retry),
                                    &::reattempt::__private::ASYNC_TIMER,
                                );
                                let kept = {
                                    use ::reattempt::__private::{Drops as _, Keeps as _};
                                    ::reattempt::__private::Keep(::core::option::Option::Some(error))
                                        .reattempt_keep()
                                };
                                (pause, kept)
                            }
                            ::core::result::Result::Err(end) => {
                                break ::reattempt::__private::fail_limited(error, end);
                            }
                        }
                    };
                    pause.await;
                    if let ::core::option::Option::Some((error, end)) = ::reattempt::__private::Stopped::end(
                        kept,
                        &call,
                        (&operation),
                    ) {
                        break ::reattempt::__private::fail_limited(error, end);
                    }
                    ::reattempt::__private::begun(&mut limits, &::reattempt::__private::ASYNC_TIMER);
                }
            }
        "#]],
    );
}

#[test]
fn the_kill_switch_in_an_async_function() {
    configured(
        "on(_)",
        "async fn fetch(url: &str) -> Result<Page, FetchError> { client().get(url).await }",
        &expect![[r#"
            ///
            /// **Retried:** Up to 3 attempts; delays of up to 100 ms, 200 ms, each drawn from 0 to that; at most 300 ms of waiting.
            async fn fetch(url: &str) -> Result<Page, FetchError> {
                let mut call = ::reattempt::__private::Count::new();
                let mut first = true;
                loop {
                    let (pause, kept) = {
                        let attempt = async {
                            if let ::core::option::Option::Some(outcome) = ::reattempt::__private::never::<
                                Result<Page, FetchError>,
                            >() {
                                return outcome;
                            }
                            client().get(url).await
                        };
                        let error = if first {
                            let outcome = attempt.await;
                            match ::reattempt::__private::split(outcome, &call) {
                                ::core::result::Result::Ok(answer) => break answer,
                                ::core::result::Result::Err(error) => error,
                            }
                        } else {
                            let outcome = ::reattempt::__private::again(attempt, call).await;
                            match ::reattempt::__private::split(outcome, &call) {
                                ::core::result::Result::Ok(answer) => break answer,
                                ::core::result::Result::Err(error) => error,
                            }
                        };
                        let verdict = ::reattempt::__private::verdict(
                            ::reattempt::Cause::Error(&error),
                            |error| ::reattempt::__private::judge(
                                error,
                                |error| ::core::matches!(error, _),
                            ),
                        );
                        match ::reattempt::__private::pause_keeping(
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
                        ) {
                            ::core::result::Result::Ok((pause, error)) => {
                                let kept = {
                                    use ::reattempt::__private::{Drops as _, Keeps as _};
                                    ::reattempt::__private::Keep(::core::option::Option::Some(error))
                                        .reattempt_keep()
                                };
                                (pause, kept)
                            }
                            ::core::result::Result::Err((error, _)) => {
                                break ::reattempt::__private::fail(error);
                            }
                        }
                    };
                    pause.await;
                    if let ::core::option::Option::Some((error, _)) = ::reattempt::__private::Stopped::end(
                        kept,
                        &call,
                        const {
                            &::reattempt::Operation::new(
                                ::core::concat!(::core::module_path!(), "::", "fetch"),
                                ::reattempt::Policy::new(),
                            )
                        },
                    ) {
                        break ::reattempt::__private::fail(error);
                    }
                    first = false;
                }
            }
        "#]],
    );
}

/// With the feature nothing changes in a sync function that nobody watches: the runtime asks.
#[test]
fn the_kill_switch_in_a_sync_function() {
    let item = "fn fetch() -> Result<Page, FetchError> { get() }";
    let expanded = || shown(&super::attribute(&parse("on(_)"), parse(item)));
    assert_eq!(crate::config::with(expanded), expanded());
}

#[test]
fn names_that_are_none() {
    let faults = |arguments: &str| {
        let item = "fn fetch() -> Result<Page, FetchError> { get() }";
        shown(&super::attribute(&parse(arguments), parse(item)))
    };
    let is_said = |arguments: &str, what: &str| {
        let said = crate::config::with(|| faults(arguments));
        assert!(said.contains(what), "{said}");
    };
    is_said(r#"policy = "", on(_)"#, "the name of a policy is not empty");
    is_said(
        r#"policy = "my storage", on(_)"#,
        r#"write `policy = \"my_storage\"`"#,
    );
    is_said(
        r#"policy = "storage", max = Self::MAX, on(_)"#,
        "`max` is the same for all instances",
    );
    is_said(
        r#"policy = "storage", max = 0, on(_)"#,
        "`max` counts the first attempt too",
    );
    let said = faults(r#"policy = "storage", on(_)"#);
    assert!(
        said.contains("needs the feature `config` of `reattempt`"),
        "{said}"
    );
}
