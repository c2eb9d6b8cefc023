//! Policies with a name, and the kill switch.

use expect_test::{Expect, expect};

use super::{attribute, parse, shown};

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
    let expanded = || shown(&crate::expand::attribute(&parse("on(_)"), parse(item)));
    assert_eq!(crate::config::with(expanded), expanded());
}

#[test]
fn names_that_are_none() {
    let faults = |arguments: &str| {
        let item = "fn fetch() -> Result<Page, FetchError> { get() }";
        shown(&crate::expand::attribute(&parse(arguments), parse(item)))
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
