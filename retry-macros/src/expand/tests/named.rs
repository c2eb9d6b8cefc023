//! Policies with a name, and the kill switch.

use expect_test::expect;

use super::{attribute, parse, shown};

#[test]
#[expect(clippy::too_many_lines, reason = "all that it expands to")]
fn a_policy_with_a_name() {
    attribute(
        r#"policy = "storage", max = 4, on(_)"#,
        "fn fetch(url: &str) -> Result<Page, FetchError> { client().get(url) }",
        &expect![[r#"
            ///
            /// **Retried** by the policy `storage` of the configuration; where that says nothing: Up to 4 attempts; delays of up to 100 ms, 200 ms, 400 ms, each drawn from 0 to that; at most 700 ms of waiting.
            fn fetch(url: &str) -> Result<Page, FetchError> {
                static __REATTEMPT_SITE: ::reattempt::__private::Site = ::reattempt::__private::sharing!(
                    ::reattempt::__private::named!(::reattempt::__private::name!("fetch" policy max
                    on), "storage", ::reattempt::Policy::constant().max(4u32), false)
                );
                let mut live = ::reattempt::__private::Site::call(&__REATTEMPT_SITE);
                let mut plain = ::reattempt::__private::Live::is_idle(&live);
                {
                    let mut body = ::reattempt::__private::CallStart::body(|| -> Result<
                        Page,
                        FetchError,
                    > { client().get(url) });
                    if plain {
                        let (until, start) = (
                            ::reattempt::__private::Until::NEVER,
                            ::reattempt::__private::AttemptStart::<0>::NONE,
                        );
                        if let ::core::option::Option::Some(answer) = ::reattempt::__private::too_late!(
                            Result < Page, FetchError >, ||
                            ::reattempt::__private::CallContext::live(& __REATTEMPT_SITE, & live,
                            until, & ::reattempt::__private::BLOCKING_TIMER)
                        ) {
                            answer
                        } else {
                            let begun = ::reattempt::__private::CallStart::now();
                            match ::reattempt::__private::split(body()) {
                                ::core::result::Result::Ok(answer) => {
                                    __REATTEMPT_SITE.answered(answer)
                                }
                                ::core::result::Result::Err(error) => {
                                    ::reattempt::__private::CallStart::retried(
                                        begun,
                                        ::reattempt::__private::NamedSite(
                                            &__REATTEMPT_SITE,
                                            &::reattempt::__private::BLOCKING_TIMER,
                                        ),
                                        error,
                                        body,
                                        |error| ::reattempt::__private::Described::since(
                                            ::reattempt::__private::describe!(error),
                                            start,
                                        ),
                                        |error| ::reattempt::__private::judge(
                                            error,
                                            |error| ::core::matches!(error, _),
                                        ),
                                        ::reattempt::__private::split,
                                        |error, _| ::reattempt::__private::fail(error),
                                    )
                                }
                            }
                        }
                    } else {
                        ::reattempt::__private::in_full(|| {
                            let until = ::reattempt::__private::Until::start(
                                ::reattempt::__private::Live::policy(&live),
                                &::reattempt::__private::BLOCKING_TIMER,
                            );
                            let mut gates = ::reattempt::__private::Gates::new(
                                (),
                                (),
                                (),
                                <::reattempt::__private::IsBudgeted<
                                    true,
                                > as ::reattempt::__private::BudgetByPolicy>::gate(
                                    ::reattempt::__private::Live::policy(&live),
                                    &::reattempt::__private::BLOCKING_TIMER,
                                ),
                            );
                            let mut call = ::reattempt::__private::LiveCall::start(
                                (),
                                ::reattempt::__private::CallContext::live(
                                    &__REATTEMPT_SITE,
                                    &live,
                                    until,
                                    &::reattempt::__private::BLOCKING_TIMER,
                                ),
                            );
                            if let ::core::option::Option::Some(answer) = ::reattempt::__private::too_late!(
                                Result < Page, FetchError >, ||
                                ::reattempt::__private::CallContext::live(& __REATTEMPT_SITE, & live,
                                until, & ::reattempt::__private::BLOCKING_TIMER)
                            ) {
                                answer
                            } else {
                                loop {
                                    let start = ::reattempt::__private::AttemptStart::<
                                        1,
                                    >::now(
                                        ::reattempt::__private::Live::policy(&live),
                                        &::reattempt::__private::BLOCKING_TIMER,
                                    );
                                    let outcome = {
                                        let span = ::reattempt::__private::attempt_span(
                                            ::reattempt::__private::CallContext::live(
                                                &__REATTEMPT_SITE,
                                                &live,
                                                until,
                                                &::reattempt::__private::BLOCKING_TIMER,
                                            ),
                                            ::reattempt::__private::LiveCall::failures(&call),
                                        );
                                        ::reattempt::__private::LiveCall::attempt(
                                            &mut call,
                                            until,
                                            ::reattempt::__private::CallContext::of_attempt(
                                                until,
                                                &::reattempt::__private::BLOCKING_TIMER,
                                            ),
                                            || ::reattempt::__private::in_span(&span, &mut body),
                                        )
                                    };
                                    let error = match ::reattempt::__private::split(outcome) {
                                        ::core::result::Result::Ok(answer) => {
                                            break {
                                                let answer = (&mut call)
                                                    .succeeded(
                                                        answer,
                                                        || ::reattempt::__private::CallContext::live(
                                                            &__REATTEMPT_SITE,
                                                            &live,
                                                            until,
                                                            &::reattempt::__private::BLOCKING_TIMER,
                                                        ),
                                                        &mut gates,
                                                    );
                                                call.finish();
                                                answer
                                            };
                                        }
                                        ::core::result::Result::Err(error) => error,
                                    };
                                    live = ::reattempt::__private::Site::renew(
                                        &__REATTEMPT_SITE,
                                        live,
                                    );
                                    let assess = || (
                                        ::reattempt::__private::Described::since(
                                            ::reattempt::__private::describe!(& error),
                                            start,
                                        ),
                                        ::reattempt::__private::judge(
                                            &error,
                                            |error| ::core::matches!(error, _),
                                        ),
                                    );
                                    match (&mut call)
                                        .retry(
                                            ::reattempt::__private::CallContext::live(
                                                &__REATTEMPT_SITE,
                                                &live,
                                                until,
                                                &::reattempt::__private::BLOCKING_TIMER,
                                            ),
                                            &mut gates,
                                            assess,
                                        )
                                    {
                                        ::core::result::Result::Ok(()) => {
                                            (&mut call)
                                                .begin(
                                                    ::reattempt::__private::CallContext::live(
                                                        &__REATTEMPT_SITE,
                                                        &live,
                                                        until,
                                                        &::reattempt::__private::BLOCKING_TIMER,
                                                    ),
                                                    &mut gates,
                                                );
                                        }
                                        ::core::result::Result::Err(_) => {
                                            break ::reattempt::__private::fail(error);
                                        }
                                    }
                                }
                            }
                        })
                    }
                }
            }
        "#]],
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "all that it expands to")]
fn a_policy_with_a_name_in_an_async_function() {
    attribute(
        r#"policy = "storage", max = 4, on(_)"#,
        "async fn fetch(url: &str) -> Result<Page, FetchError> { client().get(url).await }",
        &expect![[r#"
            ///
            /// **Retried** by the policy `storage` of the configuration; where that says nothing: Up to 4 attempts; delays of up to 100 ms, 200 ms, 400 ms, each drawn from 0 to that; at most 700 ms of waiting.
            async fn fetch(url: &str) -> Result<Page, FetchError> {
                static __REATTEMPT_SITE: ::reattempt::__private::Site = ::reattempt::__private::sharing!(
                    ::reattempt::__private::named!(::reattempt::__private::name!("fetch" policy max
                    on), "storage", ::reattempt::Policy::constant().max(4u32), true)
                );
                let mut live = ::reattempt::__private::Site::call(&__REATTEMPT_SITE);
                let mut plain = ::reattempt::__private::Live::is_idle(&live);
                let until = if plain {
                    ::reattempt::__private::Until::NEVER
                } else {
                    ::reattempt::__private::Until::start(
                        ::reattempt::__private::Live::policy(&live),
                        &::reattempt::__private::ASYNC_TIMER,
                    )
                };
                let mut gates = ::reattempt::__private::Gates::new(
                    (),
                    (),
                    (),
                    if plain {
                        <::reattempt::__private::IsBudgeted<
                            true,
                        > as ::reattempt::__private::BudgetByPolicy>::NONE
                    } else {
                        <::reattempt::__private::IsBudgeted<
                            true,
                        > as ::reattempt::__private::BudgetByPolicy>::gate(
                            ::reattempt::__private::Live::policy(&live),
                            &::reattempt::__private::ASYNC_TIMER,
                        )
                    },
                );
                let place = || &__REATTEMPT_SITE;
                let mut call = if plain {
                    ::reattempt::__private::LiveCall::new(place)
                } else {
                    ::reattempt::__private::LiveCall::start(
                        place,
                        ::reattempt::__private::CallContext::live(
                            &__REATTEMPT_SITE,
                            &live,
                            until,
                            &::reattempt::__private::ASYNC_TIMER,
                        ),
                    )
                };
                if let ::core::option::Option::Some(answer) = ::reattempt::__private::too_late!(
                    Result < Page, FetchError >, || ::reattempt::__private::CallContext::live(&
                    __REATTEMPT_SITE, & live, until, & ::reattempt::__private::ASYNC_TIMER)
                ) {
                    answer
                } else {
                    loop {
                        let pause = {
                            let start = if plain {
                                ::reattempt::__private::AttemptStart::NONE
                            } else {
                                ::reattempt::__private::AttemptStart::<
                                    1,
                                >::now(
                                    ::reattempt::__private::Live::policy(&live),
                                    &::reattempt::__private::ASYNC_TIMER,
                                )
                            };
                            let outcome = {
                                let limit = if plain {
                                    until
                                } else {
                                    ::reattempt::__private::Until::of_attempt(
                                        until,
                                        ::reattempt::__private::Live::policy(&live),
                                        &::reattempt::__private::ASYNC_TIMER,
                                    )
                                };
                                let attempt = {
                                    let span = if plain {
                                        ::reattempt::__private::AttemptSpan::NONE
                                    } else {
                                        ::reattempt::__private::attempt_span(
                                            ::reattempt::__private::CallContext::live(
                                                &__REATTEMPT_SITE,
                                                &live,
                                                until,
                                                &::reattempt::__private::ASYNC_TIMER,
                                            ),
                                            ::reattempt::__private::LiveCall::failures(&call),
                                        )
                                    };
                                    ::reattempt::__private::spanned(
                                        span,
                                        async {
                                            if let ::core::option::Option::Some(outcome) = ::reattempt::__private::never::<
                                                Result<Page, FetchError>,
                                            >() {
                                                return outcome;
                                            }
                                            client().get(url).await
                                        },
                                    )
                                };
                                if plain {
                                    ::core::result::Result::Ok({
                                        let (outcome, marks) = (&mut call).first(attempt).await;
                                        (&mut call).first_ended(marks, outcome)
                                    })
                                } else {
                                    ::reattempt::__private::limited(
                                            attempt,
                                            limit,
                                            &mut call,
                                            ::reattempt::__private::ASYNC_TIMER,
                                        )
                                        .await
                                }
                            };
                            let cut = ::reattempt::__private::cut_own();
                            if ::core::result::Result::is_err(&outcome) {
                                live = ::reattempt::__private::Site::renew(&__REATTEMPT_SITE, live);
                            }
                            let outcome = match (&mut call)
                                .in_time(
                                    outcome,
                                    || ::reattempt::__private::CallContext::live(
                                        &__REATTEMPT_SITE,
                                        &live,
                                        until,
                                        &::reattempt::__private::ASYNC_TIMER,
                                    ),
                                    &mut gates,
                                )
                            {
                                ::core::result::Result::Ok(outcome) => outcome,
                                ::core::result::Result::Err((_, end)) => break cut(end),
                            };
                            let error = match ::reattempt::__private::split_limited(
                                outcome,
                                ::reattempt::__private::split,
                            ) {
                                ::core::result::Result::Ok(answer) => {
                                    break (&mut call)
                                        .succeeded(
                                            answer,
                                            || ::reattempt::__private::CallContext::live(
                                                &__REATTEMPT_SITE,
                                                &live,
                                                until,
                                                &::reattempt::__private::ASYNC_TIMER,
                                            ),
                                            &mut gates,
                                        );
                                }
                                ::core::result::Result::Err(error) => error,
                            };
                            let cause = ::reattempt::__private::cause_of(&error);
                            live = ::reattempt::__private::Site::renew(&__REATTEMPT_SITE, live);
                            let assess = || (
                                ::reattempt::__private::Described::since(
                                    ::reattempt::__private::describe!(cause),
                                    start,
                                ),
                                ::reattempt::__private::verdict(
                                    cause,
                                    |error| ::reattempt::__private::judge(
                                        error,
                                        |error| ::core::matches!(error, _),
                                    ),
                                ),
                            );
                            match (&mut call)
                                .delay(
                                    ::reattempt::__private::CallContext::live(
                                        &__REATTEMPT_SITE,
                                        &live,
                                        until,
                                        &::reattempt::__private::ASYNC_TIMER,
                                    ),
                                    &mut gates,
                                    assess,
                                )
                            {
                                ::core::result::Result::Ok(delay) => {
                                    (&mut call)
                                        .pause(
                                            ::reattempt::__private::CallContext::live(
                                                &__REATTEMPT_SITE,
                                                &live,
                                                until,
                                                &::reattempt::__private::ASYNC_TIMER,
                                            ),
                                            delay,
                                            ::reattempt::__private::keep!(error),
                                        )
                                }
                                ::core::result::Result::Err(end) => {
                                    break ::reattempt::__private::fail_cut(error, end, cut);
                                }
                            }
                        };
                        let stopped = (&mut call)
                            .stopped(
                                pause.await,
                                ::reattempt::__private::CallContext::live(
                                    &__REATTEMPT_SITE,
                                    &live,
                                    until,
                                    &::reattempt::__private::ASYNC_TIMER,
                                ),
                            );
                        if let ::core::option::Option::Some((error, end)) = stopped {
                            let cut = ::reattempt::__private::cut_own();
                            break ::reattempt::__private::fail_cut(error, end, cut);
                        }
                        (&mut call)
                            .begin(
                                ::reattempt::__private::CallContext::live(
                                    &__REATTEMPT_SITE,
                                    &live,
                                    until,
                                    &::reattempt::__private::ASYNC_TIMER,
                                ),
                                &mut gates,
                            );
                        (&mut call).retry_begins();
                        plain = false;
                    }
                }
            }
        "#]],
    );
}

#[test]
fn the_kill_switch_in_an_async_function() {
    attribute(
        "on(_)",
        "async fn fetch(url: &str) -> Result<Page, FetchError> { client().get(url).await }",
        &expect![[r#"
            ///
            /// **Retried:** Up to 3 attempts; delays of up to 100 ms, 200 ms, each drawn from 0 to that; at most 300 ms of waiting. Its calls share a budget.
            async fn fetch(url: &str) -> Result<Page, FetchError> {
                const __REATTEMPT_POLICY: &::reattempt::Policy = &::reattempt::Policy::constant();
                static __REATTEMPT_SITE: ::reattempt::__private::Site = ::reattempt::__private::site!(
                    ::reattempt::__private::name!("fetch" on)
                );
                let context = || ::reattempt::__private::CallContext::asynchronous(
                    &__REATTEMPT_SITE,
                    __REATTEMPT_POLICY,
                );
                let mut call = ::reattempt::__private::LiveCall::new(|| &__REATTEMPT_SITE);
                loop {
                    let pause = {
                        let attempt = async {
                            if let ::core::option::Option::Some(outcome) = ::reattempt::__private::never::<
                                Result<Page, FetchError>,
                            >() {
                                return outcome;
                            }
                            client().get(url).await
                        };
                        let error = if ::reattempt::__private::LiveCall::failures(&call) == 0 {
                            let (outcome, marks) = (&mut call).first(attempt).await;
                            match ::reattempt::__private::split(outcome) {
                                ::core::result::Result::Ok(answer) => {
                                    break __REATTEMPT_SITE.answered(answer);
                                }
                                ::core::result::Result::Err(error) => {
                                    (&mut call).first_ended(marks, error)
                                }
                            }
                        } else {
                            match ::reattempt::__private::split((&mut call).again(attempt).await) {
                                ::core::result::Result::Ok(answer) => {
                                    break (&mut call).succeeded(answer, context, &mut ());
                                }
                                ::core::result::Result::Err(error) => error,
                            }
                        };
                        let assess = || (
                            ::reattempt::__private::describe!(& error),
                            ::reattempt::__private::judge(&error, |error| ::core::matches!(error, _)),
                        );
                        match (&mut call).delay(context, &mut (), assess) {
                            ::core::result::Result::Ok(delay) => {
                                (&mut call)
                                    .pause(context(), delay, ::reattempt::__private::keep!(error))
                            }
                            ::core::result::Result::Err(_) => {
                                break ::reattempt::__private::fail(error);
                            }
                        }
                    };
                    let stopped = (&mut call).stopped(pause.await, context());
                    if let ::core::option::Option::Some((error, _)) = stopped {
                        break ::reattempt::__private::fail(error);
                    }
                }
            }
        "#]],
    );
}

#[test]
fn names_that_are_none() {
    let faults = |arguments: &str| {
        let item = "fn fetch() -> Result<Page, FetchError> { get() }";
        shown(&crate::expand::attribute(&parse(arguments), parse(item)))
    };
    let is_said = |arguments: &str, what: &str| {
        let said = faults(arguments);
        assert!(said.contains(what), "{said}");
    };
    is_said(
        r#"policy = "", on(_)"#,
        "the name of a policy must not be empty",
    );
    is_said(
        r#"policy = "my  storage", on(_)"#,
        r#"write `policy = \"my storage\"`"#,
    );
    is_said(
        r#"policy = "storage", max = Self::MAX, on(_)"#,
        "`max` is the same for all instances",
    );
    is_said(
        r#"policy = "storage", max = 0, on(_)"#,
        "`max` counts the first attempt too",
    );
}

#[test]
fn the_documentation_keeps_its_own_lines_alone() {
    let expanded = |arguments: &str| {
        let item = parse("/// Its own.\nfn fetch() -> Result<Page, FetchError> { page() }");
        shown(&crate::expand::attribute(&parse(arguments), item))
    };

    assert!(expanded("on(_)").contains("/// **Retried:**"));
    assert!(expanded("on(_), doc = false").starts_with("/// Its own.\nfn fetch"));
}
